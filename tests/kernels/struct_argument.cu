// Structures by value, with padding, arrays and an address taken.
struct Inner {
  char tag;
  double weight;
};
struct Arguments {
  float* data;
  short sizes[5];
  Inner inner[2];
};
struct Pair {
  float a, b;
};

extern "C" __global__ void struct_argument(char first, Arguments arguments, Pair pair,
                                           const __grid_constant__ Inner fixed) {
  int i = threadIdx.x;
  const Inner* chosen = i & 1 ? &arguments.inner[i & 1] : &fixed;
  arguments.data[i] = arguments.sizes[i % 5] + float(chosen->weight) + pair.a * pair.b + first;
}
