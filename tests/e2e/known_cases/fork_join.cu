// Case 14: launches that fork and join, one to one in their blocks. --graph 0: A -> B, A -> C.
// --graph 1: the diamond A -> B, A -> C, B -> D, C -> D. --graph 2: A -> B, A -> C, D -> C.
#include "sample.hpp"

constexpr int blocks = 8, block = 64, count = blocks * block;

__global__ void one(const float* in, float* out) {
  const int i = blockIdx.x * block + threadIdx.x;
  out[i] = 2.0f * in[i] + 1.0f;
}

__global__ void two(const float* x, const float* y, float* out) {
  const int i = blockIdx.x * block + threadIdx.x;
  out[i] = x[i] - 3.0f * y[i];
}

namespace {

using Values = std::vector<float>;

Values one_of(const Values& in) {
  Values out(count);
  for (int i = 0; i < count; ++i)
    out[i] = 2.0f * in[i] + 1.0f;
  return out;
}

Values two_of(const Values& x, const Values& y) {
  Values out(count);
  for (int i = 0; i < count; ++i)
    out[i] = x[i] - 3.0f * y[i];
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  int graph = 0;
  sample::parse_options("fork_join", argc, argv, {{"graph", {&graph}, 0, 2}});
  const Values first = sample::pattern(count), second = sample::pattern(count, 1);
  float* in = sample::upload(first);
  float* other = sample::upload(second);
  float* a = sample::allocate(count);
  float* b = sample::allocate(count);
  float* c = sample::allocate(count);
  float* d = sample::allocate(count);

  sample::Stopwatch watch;
  one<<<blocks, block>>>(in, a);
  if (graph == 2) one<<<blocks, block>>>(other, d);
  one<<<blocks, block>>>(a, b);
  if (graph == 2) {
    two<<<blocks, block>>>(a, d, c);
  } else {
    one<<<blocks, block>>>(a, c);
  }
  if (graph == 1) two<<<blocks, block>>>(b, c, d);
  const double seconds = watch.seconds();

  const Values a_values = one_of(first);
  const Values b_values = one_of(a_values);
  const Values c_values = graph == 2 ? two_of(a_values, one_of(second)) : one_of(a_values);
  Values result = sample::download(b, count), expected = b_values;
  for (const float value : sample::download(c, count))
    result.push_back(value);
  expected.insert(expected.end(), c_values.begin(), c_values.end());
  if (graph == 1) {
    for (const float value : sample::download(d, count))
      result.push_back(value);
    const Values d_values = two_of(b_values, c_values);
    expected.insert(expected.end(), d_values.begin(), d_values.end());
  }
  return sample::report(sample::shape_text("graph", graph), result, expected, seconds);
}
