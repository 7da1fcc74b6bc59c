// Kernels as they are written today on the CPU device, beside C++ with OpenMP: as it is and with
// -ffast-math, of which the faster counts. By turns, in one process; prints a table of medians.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "../driver.hpp"
#include "by_hand.hpp"
#include "sizes.hpp"

namespace sluice::bench {
namespace {

struct Shape {
  unsigned grid_x, grid_y, block_x, block_y;
};

// What the numbers of the answers are, and which of them are compared.
enum class Answer { floats, integers, sum_of_floats, sum_of_doubles };

// A row: a kernel with its sizes. Counts of numbers are of floats.
struct Row {
  const char* name;
  const char* kernel;
  Shape shape;
  int count;
  size_t inputs, outputs;
  Answer answer = Answer::floats;
  bool adds = false;  // to what is there, so that it is cleared first
  std::function<void(std::vector<float>&)> prepare = nullptr;
};

constexpr int million = 1 << 20;
constexpr int stream_length = 1 << 24;
constexpr int stencil_side = 4096;
constexpr Shape line(int threads) {
  return {static_cast<unsigned>(threads) / 256, 1, 256, 1};
}
constexpr Shape segments(int numbers) {
  return {static_cast<unsigned>(numbers) / segment_length, 1, segment_length / segment_items, 1};
}
constexpr size_t doubles(size_t count) {
  return 2 * count;
}

void make_doubles(std::vector<float>& data) {
  for (size_t i = 0; i < data.size(); i += 2) {
    const double value = data[i];
    std::memcpy(&data[i], &value, sizeof value);
  }
}

const std::vector<Row>& rows() {
  static const std::vector<Row> all = {
      {"sum by shuffles and one atomic a warp", "sum_atomic", line(4 * million), 4 * million,
       4 * million, 1, Answer::sum_of_floats, true},
      {"softmax, a warp a row", "softmax_warp", line(4096 * 32), 4096, 4 * million, 4 * million},
      {"layer norm, a block a row",
       "layer_norm_block",
       {4096, 1, 256, 1},
       4096,
       4 * million,
       4 * million},
      {"RMS norm, a warp a row", "rms_norm_warp", line(4096 * 32), 4096, 4 * million, 4 * million},
      {"attention, online softmax", "attention", line(2048), 2048, size_t{3} * 2048 * head_width,
       size_t{2048} * head_width},
      {"histogram, shared atomics", "histogram_shared", line(4 * million), 4 * million, 4 * million,
       256, Answer::integers, true},
      {"histogram, global atomics", "histogram_global", line(4 * million), 4 * million, 4 * million,
       256, Answer::integers, true},
      {"GELU", "gelu", line(4 * million), 4 * million, 4 * million, 4 * million},
      {"Black-Scholes", "black_scholes", line(million), million, 3 * million, million},
      {"copy, grid-stride",
       "stream_copy",
       {1024, 1, 256, 1},
       stream_length,
       doubles(stream_length),
       doubles(stream_length),
       Answer::floats,
       false,
       make_doubles},
      {"add, grid-stride",
       "stream_add",
       {1024, 1, 256, 1},
       stream_length,
       doubles(2 * stream_length),
       doubles(stream_length),
       Answer::floats,
       false,
       make_doubles},
      {"triad, grid-stride",
       "stream_triad",
       {1024, 1, 256, 1},
       stream_length,
       doubles(2 * stream_length),
       doubles(stream_length),
       Answer::floats,
       false,
       make_doubles},
      {"dot, grid-stride",
       "stream_dot",
       {1024, 1, 256, 1},
       stream_length,
       doubles(2 * stream_length),
       doubles(1024),
       Answer::sum_of_doubles,
       false,
       make_doubles},
      {"stencil on a one-dimensional grid", "linear_stencil", line(stencil_side * stencil_side),
       stencil_side, size_t{stencil_side} * stencil_side, size_t{stencil_side} * stencil_side},
      {"look-ups by binary search", "look_up", line(million), million, table_size + million,
       million, Answer::integers, false,
       [](std::vector<float>& data) { std::sort(data.begin(), data.begin() + table_size); }},
      {"CUB block scan", "scan_segments", segments(4 * million), 4 * million, 4 * million,
       4 * million},
      {"CUB block radix sort", "sort_segments", segments(4 * million), 4 * million, 4 * million,
       4 * million},
      {"CUB block reduce",
       "reduce_all",
       {256, 1, segment_length / segment_items, 1},
       4 * million,
       4 * million,
       1,
       Answer::sum_of_floats,
       true},
  };
  return all;
}

std::vector<float> make_input(const Row& row) {
  std::vector<float> data(row.inputs);
  std::minstd_rand engine(1);
  std::uniform_real_distribution<float> number(0, 1);
  for (float& value : data)
    value = number(engine);
  if (row.prepare) row.prepare(data);
  return data;
}

// numbers_of() is what of an answer can be compared: a sum is one number.
std::vector<double> numbers_of(const std::vector<float>& answer, Answer form) {
  std::vector<double> numbers;
  if (form == Answer::floats) return {answer.begin(), answer.end()};
  if (form == Answer::sum_of_floats) return {answer[0]};
  if (form == Answer::integers) {
    for (const float& value : answer) {
      int number = 0;
      std::memcpy(&number, &value, sizeof number);
      numbers.push_back(number);
    }
    return numbers;
  }
  double sum = 0;
  for (size_t i = 0; i + 1 < answer.size(); i += 2) {
    double part = 0;
    std::memcpy(&part, &answer[i], sizeof part);
    sum += part;
  }
  return {sum};
}

// largest_difference() is relative to the largest number.
double largest_difference(const std::vector<double>& one, const std::vector<double>& other) {
  double largest = 0;
  double scale = 1e-30;
  for (size_t i = 0; i < one.size(); ++i) {
    if (std::isnan(one[i]) && std::isnan(other[i])) continue;
    const double difference = std::fabs(one[i] - other[i]);
    if (!(difference <= largest)) largest = difference;
    scale = std::max(scale, std::fabs(one[i]));
  }
  return largest / scale;
}

using Clock = std::chrono::steady_clock;

// What a piece of work takes among others of its kind. The other contestants' threads may still
// spin for theirs, those of libgomp for 20 ms; this one's are awake when the clock starts, each on
// a processor of its own: where Linux wakes them first, two may share one for milliseconds, which
// would be all that is measured.
double milliseconds_of(const std::function<void()>& work) {
  constexpr std::chrono::milliseconds rest{30};
  constexpr std::chrono::milliseconds ramp{8};
  std::this_thread::sleep_for(rest);
  const Clock::time_point woken = Clock::now();
  do {
    work();
  } while (Clock::now() - woken < ramp);
  const Clock::time_point start = Clock::now();
  work();
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

std::string spread(const std::vector<double>& values) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return fmt::format("{:.2f} ({:.2f}–{:.2f})", median(values), *least, *most);
}

// A sum of millions of floats is another in another order.
constexpr double most_different = 1e-3;

void launch(CUfunction kernel, const Shape& shape, Buffer& in, Buffer& out, const int& count) {
  void* arguments[] = {in.argument(), out.argument(), const_cast<int*>(&count)};
  check(cuLaunchKernel(kernel, shape.grid_x, shape.grid_y, 1, shape.block_x, shape.block_y, 1, 0,
                       nullptr, arguments, nullptr),
        "cuLaunchKernel");
  check(cuCtxSynchronize(), "cuCtxSynchronize");
}

// by_turns() is what each contestant took in each round; the first round is not counted.
std::vector<std::vector<double>> by_turns(const std::vector<std::function<void()>>& all,
                                          int rounds) {
  std::vector<std::vector<double>> times(all.size());
  for (int round = -1; round < rounds; ++round) {
    for (size_t i = 0; i < all.size(); ++i) {
      const double spent = milliseconds_of(all[i]);
      if (round >= 0) times[i].push_back(spent);
    }
  }
  return times;
}

// by_hand_for_this_level() is made for what SLUICE_CPU has the device make code for.
std::array<ByHand, 2> by_hand_for_this_level(const char* kernel) {
  const char* level = std::getenv("SLUICE_CPU");
  if (level != nullptr && std::string_view(level) == "x86-64-v3")
    return {exact_v3::by_hand(kernel), fast_v3::by_hand(kernel)};
  return {exact_native::by_hand(kernel), fast_native::by_hand(kernel)};
}

// compare() prints a row and gives how many times as long the faster of the others took; 0 where an
// answer differs.
double compare(const Context& context, const Row& row, int rounds) {
  const std::vector<float> input = make_input(row);
  Buffer in(input);
  Buffer out(row.outputs);
  const CUfunction kernel = context.kernel(row.kernel);
  std::array<std::vector<float>, 2> answers{std::vector<float>(row.outputs),
                                            std::vector<float>(row.outputs)};
  const std::array<ByHand, 2> by_hand = by_hand_for_this_level(row.kernel);
  const auto device = [&] {
    if (row.adds) out.clear();
    launch(kernel, row.shape, in, out, row.count);
  };
  const auto hand = [&](size_t form) {
    return [&, form] { by_hand[form](input.data(), answers[form].data(), row.count); };
  };
  const std::vector<std::vector<double>> times = by_turns({device, hand(0), hand(1)}, rounds);
  std::vector<double> ratios;
  const size_t faster = median(times[1]) <= median(times[2]) ? 1 : 2;
  for (size_t i = 0; i < times[0].size(); ++i)
    ratios.push_back(times[faster][i] / times[0][i]);
  fmt::print("| {} | {} | {} | {} | {:.2f} |\n", row.name, spread(times[0]), spread(times[1]),
             spread(times[2]), median(ratios));
  std::fflush(stdout);
  const std::vector<double> expected = numbers_of(answers[0], row.answer);
  const double difference = largest_difference(expected, numbers_of(out.read(), row.answer));
  if (difference <= most_different) return median(ratios);
  fmt::print(stderr, "{}: differs by {}\n", row.name, difference);
  return 0;
}

std::vector<std::pair<const char*, Shape>> stencil_shapes() {
  std::vector<std::pair<const char*, Shape>> shapes;
  constexpr std::array<std::array<unsigned, 2>, 9> blocks{
      {{32, 8}, {16, 16}, {8, 8}, {64, 4}, {128, 2}, {256, 1}, {8, 32}, {32, 32}, {1024, 1}}};
  for (const auto& [x, y] : blocks)
    shapes.emplace_back("square_stencil", Shape{stencil_side / x, stencil_side / y, x, y});
  return shapes;
}

// What has several forms: their kernels and shapes, the first of which names it to --only.
struct Forms {
  const char* name;
  int count;
  size_t numbers;
  std::vector<std::pair<const char*, Shape>> all;
  std::function<void(std::vector<float>&)> prepare = nullptr;
};

// make_halves() gives bits that are normal numbers near 1 as floats, f16 and bf16 alike.
void make_halves(std::vector<float>& data) {
  std::minstd_rand engine(1);
  std::vector<uint16_t> halves(2 * data.size());
  for (uint16_t& half : halves)
    half = static_cast<uint16_t>(0x3C00U + engine() % 1024);
  std::memcpy(data.data(), halves.data(), data.size() * sizeof(float));
}

std::vector<Forms> forms() {
  constexpr unsigned side = 512;
  constexpr Shape fragments{side / 64, side / 64, 128, 1};
  return {
      {"sum through shared memory and by shuffles",
       4 * million,
       4 * million,
       {{"sum_shared", line(4 * million)}, {"sum_shuffle", line(4 * million)}}},
      {"stencil 4096² in nine shapes of blocks", stencil_side, size_t{stencil_side} * stencil_side,
       stencil_shapes()},
      {"product of matrices of 512², floats in tiles, f16 and bf16 by fragments",
       side,
       size_t{2} * side * side,
       {{"product_tiles", {side / 32, side / 32, 32, 8}},
        {"product_f16", fragments},
        {"product_bf16", fragments}},
       make_halves},
  };
}

// What one kernel takes beside another, or one shape beside others: slowest by fastest.
void compare_forms(const Context& context, const Forms& forms, int rounds) {
  Buffer in(make_input({forms.name,
                        forms.name,
                        {},
                        forms.count,
                        forms.numbers,
                        0,
                        Answer::floats,
                        false,
                        forms.prepare}));
  Buffer out(forms.numbers);
  std::vector<std::function<void()>> all;
  for (const auto& [kernel, shape] : forms.all) {
    all.emplace_back([&, function = context.kernel(kernel), shape = shape] {
      launch(function, shape, in, out, forms.count);
    });
  }
  std::vector<double> medians;
  for (const std::vector<double>& times : by_turns(all, rounds))
    medians.push_back(median(times));
  std::string cells;
  for (size_t i = 0; i < forms.all.size(); ++i)
    cells += fmt::format("{}{} {}×{} {:.2f}", i == 0 ? "" : ", ", forms.all[i].first,
                         forms.all[i].second.block_x, forms.all[i].second.block_y, medians[i]);
  const auto [least, most] = std::minmax_element(medians.begin(), medians.end());
  fmt::print("| {} | {} | {:.2f} |\n", forms.name, cells, *most / *least);
}

int compare_all(int rounds, const std::string& only) {
  const Context context{SLUICE_BENCH_PTX, SLUICE_BENCH_BLOCKS_PTX};
  fmt::print(
      "| computation | CPU device, ms | C++/OpenMP, ms | with -ffast-math, ms | × |\n"
      "| --- | --- | --- | --- | --- |\n");
  double product = 1;
  int counted = 0;
  for (const Row& row : rows()) {
    if (!only.empty() && only != row.kernel) continue;
    product *= compare(context, row, rounds);
    ++counted;
  }
  if (counted > 0) {
    fmt::print("| geometric mean | | | | {:.2f} |\n", std::pow(product, 1.0 / counted));
  }
  fmt::print("\n| forms of one computation | ms | slowest ÷ fastest |\n| --- | --- | --- |\n");
  for (const Forms& each : forms()) {
    if (!only.empty() && only != each.all.front().first) continue;
    compare_forms(context, each, rounds);
  }
  return product > 0 ? 0 : 1;
}

}  // namespace
}  // namespace sluice::bench

int main(int argc, char** argv) {
  CLI::App app{
      "Times kernels of today on the CPU device beside C++/OpenMP, both for AVX2 where SLUICE_CPU "
      "is "
      "x86-64-v3"};
  int rounds = 9;
  std::string only;
  app.add_option("--rounds", rounds, "timed rounds; each runs every contestant once")
      ->check(CLI::Range(1, 1000));
  app.add_option("--only", only,
                 "the row of this kernel alone, or the forms of which it is the first");
  CLI11_PARSE(app, argc, argv);
  return sluice::bench::compare_all(rounds, only);
}
