// Bodies that attract each other: each step changes all speeds, then all positions, in place.
#include "../common/sample.hpp"

// update_speed() adds to the speed of each body what all others pull it by, one thread a body.
__global__ void update_speed(const float* position, float* speed, int bodies, float step) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= bodies) return;
  const float x = position[3 * i], y = position[3 * i + 1], z = position[3 * i + 2];
  float pull_x = 0.0f, pull_y = 0.0f, pull_z = 0.0f;
  for (int j = 0; j < bodies; ++j) {
    const float dx = position[3 * j] - x, dy = position[3 * j + 1] - y,
                dz = position[3 * j + 2] - z;
    const float square = dx * dx + dy * dy + dz * dz + 0.01f;
    const float pull = 1.0f / (square * sqrtf(square));
    pull_x += dx * pull;
    pull_y += dy * pull;
    pull_z += dz * pull;
  }
  speed[3 * i] += step * pull_x;
  speed[3 * i + 1] += step * pull_y;
  speed[3 * i + 2] += step * pull_z;
}

// update_positions() moves each body by its speed, one thread a body.
__global__ void update_positions(float* position, const float* speed, int bodies, float step) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= bodies) return;
  position[3 * i] += step * speed[3 * i];
  position[3 * i + 1] += step * speed[3 * i + 1];
  position[3 * i + 2] += step * speed[3 * i + 2];
}

namespace {

void reference_pull(const std::vector<float>& position, std::vector<float>& speed, float step,
                    int i) {
  const int bodies = static_cast<int>(position.size() / 3);
  const float x = position[3 * i], y = position[3 * i + 1], z = position[3 * i + 2];
  float pull_x = 0.0f, pull_y = 0.0f, pull_z = 0.0f;
  for (int j = 0; j < bodies; ++j) {
    const float dx = position[3 * j] - x, dy = position[3 * j + 1] - y,
                dz = position[3 * j + 2] - z;
    const float square = dx * dx + dy * dy + dz * dz + 0.01f;
    const float pull = 1.0f / (square * std::sqrt(square));
    pull_x += dx * pull;
    pull_y += dy * pull;
    pull_z += dz * pull;
  }
  speed[3 * i] += step * pull_x;
  speed[3 * i + 1] += step * pull_y;
  speed[3 * i + 2] += step * pull_z;
}

std::vector<float> reference(int bodies, int steps, float step) {
  std::vector<float> position = sample::pattern(size_t(3) * bodies);
  std::vector<float> speed(position.size());
  for (int t = 0; t < steps; ++t) {
    sample::in_parts(bodies, bodies, [&](int first, int end) {
      for (int i = first; i < end; ++i)
        reference_pull(position, speed, step, i);
    });
    for (size_t i = 0; i < position.size(); ++i)
      position[i] += step * speed[i];
  }
  return position;
}

}  // namespace

int main(int argc, char** argv) {
  int bodies = 1024, steps = 20, block = 256;
  sample::parse_options(
      "nbody", argc, argv,
      {{"bodies", {&bodies}, 1, 1 << 20}, {"steps", {&steps}}, {"block", {&block}, 1, 1024}});

  const float step = 1e-5f;
  const std::vector<float> start = sample::pattern(size_t(3) * bodies);
  float* position = sample::upload(start);
  float* speed = sample::upload(std::vector<float>(start.size()));

  const unsigned blocks = sample::divide_up(bodies, block);
  sample::Stopwatch watch;
  for (int t = 0; t < steps; ++t) {
    update_speed<<<blocks, block>>>(position, speed, bodies, step);
    update_positions<<<blocks, block>>>(position, speed, bodies, step);
  }
  const double seconds = watch.seconds();

  const std::vector<float> result = sample::download(position, start.size());
  CHECK(cudaFree(position));
  CHECK(cudaFree(speed));
  return sample::report(
      sample::shape_text("bodies", bodies, "steps", steps, "block", block), result,
      [&] { return reference(bodies, steps, step); }, seconds);
}
