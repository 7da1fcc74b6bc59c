// What transfer_script.hpp says, on the device and on the host: transfer_cases GRAPH WORDS...; with
// a GRAPH other than 0 as a graph that is launched so often. A kernel comes first, since copies
// before a program's first kernel are the driver's.
#include <map>

#include "sample.hpp"
#include "transfer_script.hpp"

using Word = uint32_t;
using script::Operation;

__global__ void begin(Word* x) {
  x[threadIdx.x] = threadIdx.x;
}
__global__ void put(Word* x, int each) {
  for (int i = threadIdx.x; i < each; i += blockDim.x)
    x[blockIdx.x * each + i] = 3 * (blockIdx.x * each + i) + 1;
}
__global__ void map(Word* x, const Word* y, int each) {
  for (int i = threadIdx.x; i < each; i += blockDim.x)
    x[blockIdx.x * each + i] = 2 * y[blockIdx.x * each + i] + 1;
}
__global__ void two(Word* x, const Word* y, const Word* z, int each) {
  for (int i = threadIdx.x; i < each; i += blockDim.x) {
    const int at = blockIdx.x * each + i;
    x[at] = y[at] - 3 * z[at];
  }
}
__global__ void mix(Word* x, const Word* y, const Word* z, int each, int all) {
  for (int i = threadIdx.x; i < each; i += blockDim.x) {
    Word sum = y[blockIdx.x * each + i];
    for (int j = 0; j < all; ++j)
      sum += z[j];
    x[blockIdx.x * each + i] = sum;
  }
}
__global__ void row(Word* x, const Word* y, int tile, int pitch) {
  const int columns = gridDim.x * tile;
  for (int i = threadIdx.x; i < tile; i += blockDim.x) {
    Word sum = i;
    for (int j = 0; j < columns; ++j)
      sum += y[blockIdx.y * pitch + j];
    x[blockIdx.y * columns + blockIdx.x * tile + i] = sum;
  }
}
__global__ void stencil(Word* x, const Word* y, int side, int first_row) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int line = (blockIdx.y + first_row) * blockDim.y + threadIdx.y;
  if (column < 1 || line < 1 || column >= side - 1 || line >= side - 1) return;
  const Word* at = y + line * side + column;
  x[line * side + column] = at[0] + at[-1] + at[1] + at[-side] + at[side];
}

namespace {

constexpr size_t count = script::buffer_bytes / sizeof(Word);
constexpr int threads = 64;

std::vector<Word> first_values(char buffer) {
  std::vector<Word> values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = static_cast<Word>(i * 7919 + buffer);
  return values;
}

Word* make_buffer() {
  Word* made = nullptr;
  CHECK(cudaMalloc(&made, script::buffer_bytes));
  return made;
}

Word* upload(char buffer) {
  Word* const made = make_buffer();
  CHECK(
      cudaMemcpy(made, first_values(buffer).data(), script::buffer_bytes, cudaMemcpyHostToDevice));
  return made;
}

void launch_transfer(const Operation& op, Word* x, const Word* y, cudaStream_t stream) {
  const std::vector<uint32_t>& n = op.numbers;
  const auto to = reinterpret_cast<char*>(x) + n[0];
  const auto from = reinterpret_cast<const char*>(y);
  if (op.name == "fill") CHECK(cudaMemsetAsync(to, n[2], n[1], stream));
  if (op.name == "rows") CHECK(cudaMemset2DAsync(to, n[1], n[4], n[2], n[3], stream));
  if (op.name == "copy")
    CHECK(cudaMemcpyAsync(to, from + n[1], n[2], cudaMemcpyDeviceToDevice, stream));
  if (op.name == "rect")
    CHECK(cudaMemcpy2DAsync(to, n[1], from + n[2], n[3], n[4], n[5], cudaMemcpyDeviceToDevice,
                            stream));
}

void launch_kernel(const Operation& op, std::map<char, Word*>& of, cudaStream_t stream) {
  const std::vector<uint32_t>& n = op.numbers;
  std::vector<Word*> b;
  for (const char name : op.buffers)
    b.push_back(of[name]);
  if (op.name == "put") put<<<n[0], threads, 0, stream>>>(b[0], n[1] / 4);
  if (op.name == "map")
    map<<<n[2], threads, 0, stream>>>(b[0] + n[0] / 4, b[1] + n[1] / 4, n[3] / 4);
  if (op.name == "two") two<<<n[0], threads, 0, stream>>>(b[0], b[1], b[2], n[1] / 4);
  if (op.name == "mix") mix<<<n[0], threads, 0, stream>>>(b[0], b[1], b[2], n[1] / 4, n[2] / 4);
  if (op.name == "row")
    row<<<dim3(n[0], n[1]), threads, 0, stream>>>(b[0], b[1], n[2] / 4, n[3] / 4);
  if (op.name == "stencil")
    stencil<<<dim3(n[0] / 16, n[0] / 16), dim3(16, 16), 0, stream>>>(b[0], b[1], n[0], 0);
  if (op.name == "strip")
    stencil<<<dim3(8, n[1]), dim3(2, 2), 0, stream>>>(b[0], b[1], script::strip_side, n[0]);
}

bool is_transfer(const Operation& op) {
  return op.name == "fill" || op.name == "rows" || op.name == "copy" || op.name == "rect";
}

void launch(const Operation& op, std::map<char, Word*>& of, cudaStream_t stream) {
  Word*& x = of[op.buffers.empty() ? 'a' : op.buffers[0]];
  if (op.name == "sync") CHECK(cudaStreamSynchronize(stream));
  if (op.name == "free") CHECK(cudaFree(x));
  if (op.name == "alloc") x = make_buffer();
  if (is_transfer(op)) {
    launch_transfer(op, x, op.buffers.size() > 1 ? of[op.buffers[1]] : nullptr, stream);
  } else if (op.is_launch()) {
    launch_kernel(op, of, stream);
  }
}

// The same on the host, word by word.
using Host = std::map<char, std::vector<Word>>;

void transfer_on_host(const Operation& op, Host& of) {
  const std::vector<uint32_t>& n = op.numbers;
  const bool is_copy = op.name == "copy" || op.name == "rect",
             is_row = op.name == "fill" || op.name == "copy";
  const uint32_t width = is_row ? n[is_copy ? 2 : 1] : n[is_copy ? 4 : 2];
  const uint32_t rows = is_row ? 1 : n[is_copy ? 5 : 3];
  const uint32_t to_pitch = is_row ? 0 : n[1], from = is_copy ? n[is_row ? 1 : 2] : 0;
  const uint32_t from_pitch = is_row || !is_copy ? 0 : n[3];
  for (uint32_t line = 0; line < rows; ++line) {
    for (uint32_t byte = 0; byte < width; byte += 4) {
      of[op.buffers[0]][(n[0] + line * to_pitch + byte) / 4] =
          is_copy ? of[op.buffers[1]][(from + line * from_pitch + byte) / 4]
                  : n.back() * 0x01010101U;
    }
  }
}

void stencil_on_host(std::vector<Word>& x, const std::vector<Word>& y, uint32_t side,
                     uint32_t begin, uint32_t end) {
  for (uint32_t line = std::max(begin, 1U); line < std::min(end, side - 1); ++line)
    for (uint32_t i = line * side + 1; i < line * side + side - 1; ++i)
      x[i] = y[i] + y[i - 1] + y[i + 1] + y[i - side] + y[i + side];
}

void row_on_host(std::vector<Word>& x, const std::vector<Word>& y, const std::vector<uint32_t>& n) {
  const uint32_t tile = n[2] / 4, columns = n[0] * tile;
  for (uint32_t line = 0; line < n[1]; ++line) {
    Word sum = 0;
    for (uint32_t j = 0; j < columns; ++j)
      sum += y[line * (n[3] / 4) + j];
    for (uint32_t j = 0; j < columns; ++j)
      x[line * columns + j] = j % tile + sum;
  }
}

void on_host(const Operation& op, Host& of) {
  const std::vector<uint32_t>& n = op.numbers;
  if (!op.is_launch()) return;
  if (is_transfer(op)) return transfer_on_host(op, of);
  std::vector<Word>& x = of[op.buffers[0]];
  const std::vector<Word>& y = of[op.buffers[op.buffers.size() > 1 ? 1 : 0]];
  const std::vector<Word>& z = of[op.buffers.back()];
  if (op.name == "row") return row_on_host(x, y, n);
  if (op.name == "stencil") return stencil_on_host(x, y, n[0], 0, n[0]);
  if (op.name == "strip")
    return stencil_on_host(x, y, script::strip_side, 2 * n[0], 2 * (n[0] + n[1]));
  const bool is_map = op.name == "map";
  const uint32_t blocks = n[is_map ? 2 : 0], each = n[is_map ? 3 : 1] / 4;
  Word sum = 0;
  for (uint32_t j = 0; op.name == "mix" && j < n[2] / 4; ++j)
    sum += z[j];
  for (uint32_t i = 0; i < blocks * each; ++i) {
    if (op.name == "put") x[i] = 3 * i + 1;
    if (is_map) x[n[0] / 4 + i] = 2 * y[n[1] / 4 + i] + 1;
    if (op.name == "two") x[i] = y[i] - 3 * z[i];
    if (op.name == "mix") x[i] = y[i] + sum;
  }
}

double run(const std::vector<Operation>& operations, int graph, std::map<char, Word*>& of) {
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  cudaGraphExec_t executable = nullptr;
  if (graph != 0) {
    cudaGraph_t captured;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    for (const Operation& op : operations)
      launch(op, of, stream);
    CHECK(cudaStreamEndCapture(stream, &captured));
    CHECK(cudaGraphInstantiate(&executable, captured, 0));
    CHECK(cudaGraphDestroy(captured));
  }
  sample::Stopwatch watch;
  begin<<<1, threads, 0, stream>>>(make_buffer());
  for (int i = 0; i < graph; ++i)
    CHECK(cudaGraphLaunch(executable, stream));
  for (size_t i = 0; graph == 0 && i < operations.size(); ++i)
    launch(operations[i], of, stream);
  return watch.seconds();
}

}  // namespace

int main(int argc, char** argv) {
  sample::program() = "transfer_cases";
  sample::require(argc > 2, "transfer_cases GRAPH WORDS...");
  const int graph = std::atoi(argv[1]);
  const std::vector<Operation> operations = script::parse({argv + 2, argv + argc});
  std::map<char, Word*> of;
  Host host;
  for (const Operation& op : operations) {
    for (const char buffer : op.buffers) {
      if (host.count(buffer) != 0) continue;
      of[buffer] = upload(buffer);
      host[buffer] = first_values(buffer);
    }
  }
  const double seconds = run(operations, graph, of);
  for (int i = 0; i < std::max(graph, 1); ++i)
    for (const Operation& op : operations)
      on_host(op, host);
  std::vector<float> found, expected;  // their bits
  for (const auto& [buffer, values] : host) {
    std::vector<float> bits(count);
    std::memcpy(bits.data(), values.data(), script::buffer_bytes);
    expected.insert(expected.end(), bits.begin(), bits.end());
    bits = sample::download(reinterpret_cast<const float*>(of[buffer]), count);
    found.insert(found.end(), bits.begin(), bits.end());
  }
  return sample::report(sample::shape_text("graph", graph), found, expected, seconds);
}
