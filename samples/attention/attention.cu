// One token's way through grouped-query attention: a linear layer makes the queries, attention
// reads a cache of keys and values, each head's result is normalised and is the next step's input.
#include "../common/sample.hpp"

constexpr int head_size = 128;
constexpr int heads_per_group = 4;  // query heads that share one head of keys and values
constexpr int max_context = 1024;

// linear() computes out = in * weights for one row of `columns` values. A block computes head_size
// of them, one each thread.
__global__ void linear(const float* in, const float* weights, float* out, int columns) {
  int column = blockIdx.x * head_size + threadIdx.x;
  float sum = 0.0f;
  for (int k = 0; k < columns; ++k)
    sum += in[k] * weights[k * columns + column];
  out[column] = sum;
}

// attention() computes softmax(q k^T) v for the heads of one group in each block.
__global__ void attention(const float* queries, const float* keys, const float* values, float* out,
                          int context) {
  __shared__ float scores[max_context];
  const int group = blockIdx.x;
  const float* key = keys + group * context * head_size;
  const float* value = values + group * context * head_size;
  for (int h = 0; h < heads_per_group; ++h) {
    const int head = (group * heads_per_group + h) * head_size;
    for (int t = threadIdx.x; t < context; t += head_size) {
      float score = 0.0f;
      for (int d = 0; d < head_size; ++d)
        score += queries[head + d] * key[t * head_size + d];
      scores[t] = score * 0.08838834764f;  // 1 / sqrt(head_size)
    }
    __syncthreads();
    float largest = scores[0];
    for (int t = 1; t < context; ++t)
      largest = fmaxf(largest, scores[t]);
    float total = 0.0f, sum = 0.0f;
    for (int t = 0; t < context; ++t) {
      const float weight = expf(scores[t] - largest);
      total += weight;
      sum += weight * value[t * head_size + threadIdx.x];
    }
    out[head + threadIdx.x] = sum / total;
    __syncthreads();
  }
}

// normalise() gives each head of `in` a root mean square of 1, one head each block.
__global__ void normalise(const float* in, float* out) {
  const int head = blockIdx.x * head_size;
  float squares = 0.0f;
  for (int d = 0; d < head_size; ++d)
    squares += in[head + d] * in[head + d];
  out[head + threadIdx.x] = in[head + threadIdx.x] / sqrtf(squares / head_size + 1e-6f);
}

namespace {

struct Layer {
  int groups, context, steps;
  std::vector<float> token, weights, keys, values;
  int heads() const { return groups * heads_per_group; }
  int columns() const { return heads() * head_size; }
};

void reference_head(const Layer& layer, const float* query, int group, float* out) {
  std::vector<float> scores(layer.context);
  const float* key = &layer.keys[size_t(group) * layer.context * head_size];
  const float* value = &layer.values[size_t(group) * layer.context * head_size];
  float largest = -INFINITY;
  for (int t = 0; t < layer.context; ++t) {
    float score = 0.0f;
    for (int d = 0; d < head_size; ++d)
      score += query[d] * key[t * head_size + d];
    scores[t] = score * 0.08838834764f;
    largest = std::fmax(largest, scores[t]);
  }
  std::vector<float> sum(head_size);
  float total = 0.0f, squares = 0.0f;
  for (int t = 0; t < layer.context; ++t) {
    const float weight = std::exp(scores[t] - largest);
    total += weight;
    for (int d = 0; d < head_size; ++d)
      sum[d] += weight * value[t * head_size + d];
  }
  for (float& element : sum) {
    element /= total;
    squares += element * element;
  }
  for (int d = 0; d < head_size; ++d)
    out[d] = sum[d] / std::sqrt(squares / head_size + 1e-6f);
}

std::vector<float> reference(const Layer& layer) {
  std::vector<float> token = layer.token;
  std::vector<float> queries(layer.columns());
  for (int step = 0; step < layer.steps; ++step) {
    std::fill(queries.begin(), queries.end(), 0.0f);
    for (int k = 0; k < layer.columns(); ++k) {
      const float* row = &layer.weights[size_t(k) * layer.columns()];
      for (int c = 0; c < layer.columns(); ++c)
        queries[c] += token[k] * row[c];
    }
    for (int head = 0; head < layer.heads(); ++head) {
      const size_t place = size_t(head) * head_size;
      reference_head(layer, &queries[place], head / heads_per_group, &token[place]);
    }
  }
  return token;
}

// small() is the start pattern around 0, so that sums over a row stay small.
std::vector<float> small(size_t count, uint32_t seed, float scale) {
  std::vector<float> values = sample::pattern(count, seed);
  for (float& value : values)
    value = (value - 0.5f) * scale;
  return values;
}

}  // namespace

int main(int argc, char** argv) {
  Layer layer{8, 256, 1, {}, {}, {}, {}};
  sample::Repeats repeats;
  sample::parse_options("attention", argc, argv,
                        sample::with_repeats({{"groups", {&layer.groups}, 1, 16},
                                              {"context", {&layer.context}, 1, max_context},
                                              {"steps", {&layer.steps}, 1, 10000}},
                                             repeats));
  const size_t columns = layer.columns();
  const size_t cached = size_t(layer.groups) * layer.context * head_size;
  layer.token = small(columns, 1, 2.0f);
  layer.weights = small(columns * columns, 2, 0.1f);
  layer.keys = small(cached, 3, 1.0f);
  layer.values = small(cached, 4, 1.0f);

  float* const token = sample::upload(layer.token);
  float* weights = sample::upload(layer.weights);
  float* keys = sample::upload(layer.keys);
  float* values = sample::upload(layer.values);
  float* queries = sample::allocate(columns);
  float* mixed = sample::allocate(columns);
  float* const next = sample::allocate(columns);

  const auto decode = [&](cudaStream_t stream) {
    float* in = token;
    float* out = next;
    for (int step = 0; step < layer.steps; ++step) {
      linear<<<layer.heads(), head_size, 0, stream>>>(in, weights, queries, layer.columns());
      attention<<<layer.groups, head_size, 0, stream>>>(queries, keys, values, mixed,
                                                        layer.context);
      normalise<<<layer.heads(), head_size, 0, stream>>>(mixed, out);
      std::swap(in, out);
    }
  };
  const auto reset = [&] { sample::upload(layer.token, token); };
  const double seconds = sample::timed(repeats, reset, decode);

  const std::vector<float> result = sample::download(layer.steps % 2 == 0 ? token : next, columns);
  for (float* buffer : {token, weights, keys, values, queries, mixed, next})
    CHECK(cudaFree(buffer));
  // The device's expf() is not the host's.
  return sample::report(
      sample::shape_text("groups", layer.groups, "context", layer.context, "steps", layer.steps),
      result, [&] { return reference(layer); }, seconds, 1e-3);
}
