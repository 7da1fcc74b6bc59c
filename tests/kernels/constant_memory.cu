// Module variables with initialisers: numbers, rows, pointers, floats, doubles.
__constant__ float weights[3][3] = {{1, 2, 1}, {2}, {0.5f, -1.5f}};
__constant__ int offset = -7;
__device__ double table[4] = {1.5, -2.25};
__device__ int row[2][3] = {{1}, {2, 3, 4}};
__device__ int* pointers[2] = {&row[0][1], &row[1][2]};
__device__ const char* text = "constant text";
__device__ short4 vector_value = {1, 2, 3, 4};

extern "C" __global__ void constant_memory(float* out, int i) {
  out[i] = weights[i % 3][i / 3 % 3] + float(table[i & 3]) + *pointers[i & 1] + offset + text[i & 7] +
           vector_value.y;
  table[i & 3] = out[i];
}
