// Addresses that data decides.
#define X int(blockIdx.x * blockDim.x + threadIdx.x)

extern "C" __global__ void gather(const int* index, const float* in, float* out, int n) {
  if (X < n) out[X] = in[index[X]];
}

extern "C" __global__ void scatter(const int* index, const float* in, float* out, int n) {
  if (X < n) out[index[X]] = in[X];
}

extern "C" __global__ void gather_scatter(const int* from, const int* to, const float* in,
                                          float* out, int n) {
  if (X < n) out[to[X]] = in[from[X]];
}

extern "C" __global__ void byte_lookup(const unsigned char* in, const float* table, float* out,
                                       int n) {
  if (X < n) out[X] = table[in[X]];
}

extern "C" __global__ void masked_gather(const int* index, const float* in, float* out, int n) {
  if (X < n) out[X] = in[X + (index[X] & 3)];
}

extern "C" __global__ void clamped_gather(const int* index, const float* in, float* out, int n) {
  if (X < n) out[X] = in[min(max(index[X], 0), 31)];
}

extern "C" __global__ void checked_gather(const int* index, const float* in, float* out, int n) {
  if (X >= n) return;
  const int at = index[X];
  if (at >= 0 && at < 32) out[X] = in[at];
}

extern "C" __global__ void two_levels(const int* outer, const int* inner, float* out, int n) {
  if (X < n) out[X] = float(inner[outer[X]]);
}

// What is loaded adds itself again: x - x is no gather, though the instructions look like one.
extern "C" __global__ void loaded_and_cancelled(const int* index, const float* in, float* out,
                                                int n) {
  if (X < n) out[X] = in[X + index[X] * 0];
}

extern "C" __global__ void shuffled_index(const float* in, float* out) {
  const int partner = __shfl_xor_sync(~0u, X, 1);
  out[X] = in[partner];
}
