// Summaries of repeated measurements.
#pragma once
#include <cstddef>
#include <vector>

namespace sluice::gpu_probe {

// What a set of repeats is reduced to. All values are in the unit of the samples.
struct Summary {
  std::size_t count = 0;
  double median = 0;
  double lower_quartile = 0;
  double upper_quartile = 0;
  double minimum = 0;
  double maximum = 0;
};

// summarize() sorts the samples and reads the five numbers off, interpolating linearly between
// neighbours (Hyndman and Fan's type 7, which is NumPy's default). Medians and quartiles, not
// means: a machine that is busy with something else disturbs some repeats a great deal and the
// others not at all. Throws std::invalid_argument if there is no sample or one is not finite.
Summary summarize(std::vector<double> samples);

}  // namespace sluice::gpu_probe
