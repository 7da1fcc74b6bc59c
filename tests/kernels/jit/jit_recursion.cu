// Functions that call themselves, directly and through others.
__device__ __noinline__ unsigned fibonacci(unsigned n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

extern "C" __global__ void fibonacci_numbers(const unsigned* n, unsigned* result) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  result[i] = fibonacci(n[i]);
}

// Puts the smaller values first; says where the smaller ones end and the greater begin.
__device__ __noinline__ void split(int* values, int count, int* ends) {
  const int pivot = values[count / 2];
  int from = 0, to = count - 1;
  while (from <= to) {
    while (values[from] < pivot) ++from;
    while (values[to] > pivot) --to;
    if (from > to) break;
    const int kept = values[from];
    values[from++] = values[to];
    values[to--] = kept;
  }
  ends[0] = to + 1;
  ends[1] = from;
}

// Each call has an array of its own.
__device__ __noinline__ void quicksort(int* values, int count, int* deepest, int depth) {
  if (count < 2) return;
  if (depth > *deepest) *deepest = depth;
  int ends[2];
  split(values, count, ends);
  quicksort(values, ends[0], deepest, depth + 1);
  quicksort(values + ends[1], count - ends[1], deepest, depth + 1);
}

extern "C" __global__ void sort_rows(int* values, int count, int* depth) {
  int deepest = 0;
  quicksort(values + threadIdx.x * count, count, &deepest, 0);
  depth[threadIdx.x] = deepest;
}

__device__ __noinline__ bool is_odd(unsigned n, const char* name);
__device__ __noinline__ bool is_even(unsigned n, const char* name) {
  return n == 0 ? name != nullptr : is_odd(n - 1, name);
}
__device__ __noinline__ bool is_odd(unsigned n, const char* name) {
  return n == 0 ? false : is_even(n - 1, name);
}

extern "C" __global__ void parity(int* result) {
  result[threadIdx.x] = 2 * is_even(threadIdx.x, "even") + is_odd(threadIdx.x, "odd");
}

// Structures as parameters and results; what the callee does to its own is not seen outside.
struct Range {
  double sum;
  int from, to;
};

__device__ __noinline__ Range halves(const double* values, Range range) {
  if (range.to - range.from == 1) {
    range.sum = values[range.from];
    return range;
  }
  Range left = range, right = range;
  left.to = right.from = (range.from + range.to) / 2;
  left = halves(values, left);
  const double before = range.sum;
  right = halves(values, right);
  range.sum = left.sum + right.sum + (range.sum - before);
  return range;
}

extern "C" __global__ void sum_by_halves(const double* values, int count, double* sums) {
  Range all = {1000.0, 0, count};
  const Range result = halves(values + threadIdx.x * count, all);
  sums[threadIdx.x] = result.sum + (all.sum - 1000.0) + (result.to - count);
}

// Threads of a block meet at a barrier on each level.
__device__ __noinline__ int reduce_from(int* shared, int width) {
  __syncthreads();
  if (width == 0) return shared[0];
  if (threadIdx.x < width) shared[threadIdx.x] += shared[threadIdx.x + width];
  const int below = reduce_from(shared, width / 2);
  const int votes = __popc(__ballot_sync(~0u, threadIdx.x % 32 < width));
  return below < 0 ? -1 : below + votes;
}

extern "C" __global__ void reduce_recursively(const int* in, int* out) {
  __shared__ int values[256];
  values[threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x];
  out[blockIdx.x * 256 + threadIdx.x] = reduce_from(values, 128);
}

// An expression tree whose nodes call each other through pointers.
struct Node;
using Evaluate = int (*)(const Node*);
struct Node {
  int kind, left, right;
};
__device__ int constant(const Node* node);
__device__ int sum(const Node* node);
__device__ int product(const Node* node);
__device__ Evaluate evaluators[3] = {constant, sum, product};

__device__ __noinline__ int constant(const Node* node) { return node->left; }
__device__ __noinline__ int sum(const Node* node) {
  const Node *left = node + node->left, *right = node + node->right;
  return evaluators[left->kind](left) + evaluators[right->kind](right);
}
__device__ __noinline__ int product(const Node* node) {
  const Node *left = node + node->left, *right = node + node->right;
  return evaluators[left->kind](left) * evaluators[right->kind](right);
}

extern "C" __global__ void evaluate(const Node* nodes, int* result) {
  result[threadIdx.x] = evaluators[nodes->kind](nodes) + threadIdx.x;
}

__device__ __noinline__ int find(const int* values, int count, int wanted) {
  if (count == 0) __trap();
  if (*values == wanted) return 0;
  const int place = find(values + 1, count - 1, wanted);
  return place < 0 ? -1 : place + 1;
}

extern "C" __global__ void find_or_trap(const int* values, int count, int* places) {
  places[threadIdx.x] = find(values, count, threadIdx.x);
}

__device__ __noinline__ int endless(unsigned n) {
  if (n == 1) return 0;
  const int below = endless(n - 2);
  return below < 0 ? -1 : below + 1;
}

extern "C" __global__ void go_down(unsigned from, int* result) { *result = endless(from); }
