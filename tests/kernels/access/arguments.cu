// Where pointers come from: structs by value, arithmetic on arguments, shared allocations.
#define X int(blockIdx.x * blockDim.x + threadIdx.x)
#define Y int(blockIdx.y * blockDim.y + threadIdx.y)

struct View {
  float* data;
  int width, height;
  float gain;
};
extern "C" __global__ void struct_views(View from, View to) {
  if (X >= from.width || Y >= from.height) return;
  to.data[Y * to.width + X] = from.gain * from.data[Y * from.width + X];
}

struct Fields {
  struct {
    double* density;
    int skip;
  } in;
  struct {
    double* flux[2];
  } out;
};
extern "C" __global__ void nested_struct(Fields fields, int n) {
  if (X >= n) return;
  const double value = fields.in.density[X + fields.in.skip];
  fields.out.flux[0][X] = value;
  fields.out.flux[1][2 * X] = -value;
}

// Which pointer of the struct is used depends on the thread.
struct Pair {
  float* parts[2];
};
extern "C" __global__ void struct_array_by_thread(Pair pair, int n) {
  if (X < n) pair.parts[threadIdx.x & 1][X] = 1.0f;
}

extern "C" __global__ void byte_offset(const char* in, char* out, size_t from, int n) {
  if (X < n) out[X] = (in + from)[X];
}

extern "C" __global__ void before_the_pointer(const float* in, float* out, int n) {
  if (X < n) out[X] = in[X - 3];
}

extern "C" __global__ void from_the_end(const float* in, float* out, int n) {
  const float* end = in + n;
  if (X < n) out[X] = end[-1 - X];
}

extern "C" __global__ void walking_pointer(const float* in, float* out, int n, int stride) {
  const float* at = in + X;
  float sum = 0;
  for (const float* end = at + n * stride; at != end; at += stride) sum += *at;
  out[X] = sum;
}

extern "C" __global__ void three_in_one(const float* a, const float* b, float* c, int n) {
  if (X < n) c[X] = a[X] + b[X];
}

extern "C" __global__ void shift_in_place(float* data, int n, int by) {
  if (X < n) data[X] = data[X + by];
}

extern "C" __global__ void either_pointer(float* a, float* b, int n) {
  float* to = threadIdx.x & 1 ? a : b;
  if (X < n) to[X] = 1.0f;
}

extern "C" __global__ void pointer_by_scalar(float* a, float* b, int n, int second) {
  float* to = second ? b : a;
  if (X < n) to[X] = 1.0f;
}

extern "C" __global__ void unused_pointer(const float* in, float* out, const float* unused, int n) {
  if (X < n) out[X] = in[X];
}

extern "C" __global__ void pointer_table(float* const* rows, int n) {
  if (X < n) rows[blockIdx.y][X] = 0.0f;
}

struct Node {
  Node* next;
  int value;
};
extern "C" __global__ void linked_list(const Node* first, int* out) {
  int sum = 0;
  for (const Node* node = first; node != nullptr; node = node->next) sum += node->value;
  out[X] = sum;
}
