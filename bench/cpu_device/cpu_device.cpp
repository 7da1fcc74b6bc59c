// The CPU device beside hand-written C++ and beside PoCL: the same computations, in turn, in one
// process. Prints a table of medians. The computations and their shapes stand in contestant.hpp.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <random>
#include <thread>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "contestant.hpp"

namespace sluice::bench {

std::vector<float> three_of_four(const std::vector<float>& all) {
  std::vector<float> kept;
  for (size_t i = 0; i < all.size(); ++i) {
    if (i % 4 != 3) kept.push_back(all[i]);
  }
  return kept;
}

Inputs make_inputs() {
  Inputs in;
  std::minstd_rand engine(1);
  std::uniform_real_distribution<float> number(0, 1);
  const auto fill = [&](std::vector<float>& data, size_t count) {
    data.resize(count);
    for (float& value : data)
      value = number(engine);
  };
  const auto square = [](int side) { return static_cast<size_t>(side) * side; };
  fill(in.grid, square(in.stencil_side));
  fill(in.a, square(in.gemm_side));
  fill(in.b, square(in.gemm_side));
  fill(in.body_data, 4 * static_cast<size_t>(in.bodies));
  fill(in.numbers, in.sum_count);
  fill(in.matrix, square(in.transpose_side));
  return in;
}

namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_of(Contestant& who, Computation what) {
  // The other contestants' threads may still spin for the next piece of work. This one's are awake
  // when the clock starts.
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  who.run(what);
  const Clock::time_point start = Clock::now();
  who.run(what);
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

std::string spread(const std::vector<double>& values) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return fmt::format("{:.1f} ({:.1f}–{:.1f})", median(values), *least, *most);
}

// largest_difference() is relative to the largest number of the first answer.
double largest_difference(const std::vector<float>& one, const std::vector<float>& other) {
  if (one.size() != other.size()) return INFINITY;
  double largest = 0;
  double scale = 0;
  for (size_t i = 0; i < one.size(); ++i) {
    largest = std::max<double>(largest, std::fabs(one[i] - other[i]));
    scale = std::max<double>(scale, std::fabs(one[i]));
  }
  return largest / scale;
}

// Sums of 2^25 numbers in another order differ by more than the rest.
constexpr double most_different = 1e-3;

struct Ratios {
  double product = 1;
  int count = 0;
  void add(double ratio) {
    product *= ratio;
    ++count;
  }
  double mean() const { return std::pow(product, 1.0 / count); }
};

// Median of the rounds' own ratios: what disturbs a round disturbs all its contestants.
double ratio(const std::vector<double>& other, const std::vector<double>& ours) {
  std::vector<double> ratios;
  for (size_t i = 0; i < ours.size(); ++i)
    ratios.push_back(other[i] / ours[i]);
  return median(ratios);
}

int compare(int rounds) {
  const Inputs inputs = make_inputs();
  std::vector<std::unique_ptr<Contestant>> all;
  all.push_back(make_device(inputs));
  all.push_back(make_plain(inputs));
  if (auto opencl = make_opencl(inputs)) all.push_back(std::move(opencl));

  std::string head = "| computation |";
  std::string rule = "| --- |";
  for (const auto& who : all) {
    head += fmt::format(" {}, ms |", who->name());
    rule += " --- |";
  }
  for (size_t i = 1; i < all.size(); ++i) {
    head += i == 1 ? " × C++/OpenMP |" : " × PoCL |";
    rule += " --- |";
  }
  fmt::print("{}\n{}\n", head, rule);

  std::vector<Ratios> means(all.size());
  bool equal = true;
  for (size_t index = 0; index < computation_names.size(); ++index) {
    const auto what = static_cast<Computation>(index);
    std::vector<std::vector<double>> times(all.size());
    for (int round = -1; round < rounds; ++round) {
      for (size_t i = 0; i < all.size(); ++i) {
        const double spent = milliseconds_of(*all[i], what);
        if (round >= 0) times[i].push_back(spent);  // the first round compiles and warms up
      }
    }
    std::string line = fmt::format("| {} |", computation_names[index]);
    for (const auto& spent : times)
      line += fmt::format(" {} |", spread(spent));
    const std::vector<float> expected = all[1]->answer(what);
    for (size_t i = 0; i < all.size(); ++i) {
      const double difference = largest_difference(expected, all[i]->answer(what));
      if (difference > most_different) {
        fmt::print(stderr, "{}: {} differs by {}\n", computation_names[index], all[i]->name(),
                   difference);
        equal = false;
      }
      if (i == 0) continue;
      const double faster = ratio(times[i], times[0]);
      means[i].add(faster);
      line += fmt::format(" {:.2f} |", faster);
    }
    fmt::print("{}\n", line);
    std::fflush(stdout);
  }
  std::string last = "| geometric mean |";
  for (size_t i = 0; i < all.size(); ++i)
    last += " |";
  for (size_t i = 1; i < all.size(); ++i)
    last += fmt::format(" {:.2f} |", means[i].mean());
  fmt::print("{}\n", last);
  return equal ? 0 : 1;
}

}  // namespace
}  // namespace sluice::bench

int main(int argc, char** argv) {
  CLI::App app{"Times the CPU device beside C++/OpenMP and PoCL"};
  int rounds = 9;
  app.add_option("--rounds", rounds, "timed rounds; each runs every contestant once")
      ->check(CLI::Range(1, 1000));
  CLI11_PARSE(app, argc, argv);
  return sluice::bench::compare(rounds);
}
