// A switch that becomes a table of branches.
extern "C" __global__ void switch_table(const int* codes, int* out) {
  int i = threadIdx.x;
  int value = out[i];
  switch (codes[i]) {
    case 0: value += 7; break;
    case 1: value *= 3; break;
    case 2: value ^= 0x55; break;
    case 3: value = out[i + 1]; break;
    case 4: value = -value; break;
    case 5: value = __clz(value); break;
    case 6: value = __popc(value); break;
    case 7: value = __brev(value); break;
    case 8: out[i + 2] = 1; break;
    case 9: value /= 3; break;
    default: value = 0;
  }
  out[i] = value;
}
