// A decoder makes one token after another: a graph of eight kernels a layer is built once and
// launched for each token, with the token's place as an updated parameter of three kernels a layer.
// Attention weighs by squares, so that all is arithmetic that the host can repeat bit for bit.
#include <tuple>

#include "../common/sample.hpp"

constexpr int width = 256, heads = 4, head_width = width / heads, inner = 512, layers = 8;

// norm() is x divided by its root mean square.
__global__ void norm(const float* x, float* y) {
  __shared__ float squares[width];
  const int i = threadIdx.x;
  squares[i] = x[i] * x[i];
  for (int half = width / 2; half > 0; half /= 2) {
    __syncthreads();
    if (i < half) squares[i] += squares[i + half];
  }
  __syncthreads();
  y[i] = x[i] / sqrtf(squares[0] / width + 1e-5f);
}

// A matrix lies column by column, so that neighbouring threads read neighbours.
__device__ float row_of_product(const float* matrix, const float* x, int row, int rows,
                                int columns) {
  float sum = 0;
  for (int j = 0; j < columns; ++j)
    sum += matrix[j * rows + row] * x[j];
  return sum;
}

// project() writes the query, and the key and value of this place into the cache.
__global__ void project(const float* matrix, const float* x, float* query, float* keys,
                        float* values, int place) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  const float sum = row_of_product(matrix, x, row, 3 * width, width);
  if (row < width) {
    query[row] = sum;
  } else if (row < 2 * width) {
    keys[place * width + row - width] = sum;
  } else {
    values[place * width + row - 2 * width] = sum;
  }
}
__global__ void weigh(const float* query, const float* keys, float* weights, int places, int most) {
  const int head = blockIdx.x, at = threadIdx.x;
  if (at >= places) return;
  float sum = 0;
  for (int i = head * head_width; i < (head + 1) * head_width; ++i)
    sum += query[i] * keys[at * width + i];
  weights[head * most + at] = sum * sum;
}
__global__ void mix(const float* weights, const float* values, float* mixed, int places, int most) {
  const int head = blockIdx.x, i = head * head_width + threadIdx.x;
  float total = 1e-3f, sum = 0;
  for (int at = 0; at < places; ++at) {
    total += weights[head * most + at];
    sum += weights[head * most + at] * values[at * width + i];
  }
  mixed[i] = sum / total;
}
// add_product() adds a product to x.
__global__ void add_product(const float* matrix, const float* in, float* x, int columns) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  x[row] += row_of_product(matrix, in, row, width, columns);
}
__global__ void widen(const float* matrix, const float* x, float* hidden) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  const float sum = row_of_product(matrix, x, row, inner, width);
  hidden[row] = sum > 0 ? sum * sum : 0;
}

namespace {

std::vector<float> matrix(int rows, int columns, uint32_t seed) {
  std::vector<float> values = sample::pattern(size_t(rows) * columns, seed);
  for (float& value : values)
    value = (value - 0.5f) * 0.25f;
  return values;
}

struct Weights {
  std::vector<float> project, out, widen, narrow;
  explicit Weights(uint32_t layer)
      : project(matrix(3 * width, width, 4 * layer)),
        out(matrix(width, width, 4 * layer + 1)),
        widen(matrix(inner, width, 4 * layer + 2)),
        narrow(matrix(width, inner, 4 * layer + 3)) {}
};

// The same on the host.
std::vector<float> reference_norm(const std::vector<float>& x) {
  std::vector<float> squares = x, y = x;
  for (float& each : squares)
    each *= each;
  for (int half = width / 2; half > 0; half /= 2) {
    for (int i = 0; i < half; ++i)
      squares[i] += squares[i + half];
  }
  for (float& each : y)
    each /= std::sqrt(squares[0] / width + 1e-5f);
  return y;
}

std::vector<float> reference_product(const std::vector<float>& matrix, const std::vector<float>& x,
                                     int rows) {
  std::vector<float> sums(rows, 0.0f);
  for (size_t j = 0; j < x.size(); ++j) {
    for (int row = 0; row < rows; ++row)
      sums[row] += matrix[j * rows + row] * x[j];
  }
  return sums;
}

struct Cache {
  std::vector<float> keys, values;
};

void reference_layer(const Weights& weights, std::vector<float>& x, Cache& cache) {
  const std::vector<float> all = reference_product(weights.project, reference_norm(x), 3 * width);
  cache.keys.insert(cache.keys.end(), all.begin() + width, all.begin() + 2 * width);
  cache.values.insert(cache.values.end(), all.begin() + 2 * width, all.end());
  const size_t places = cache.keys.size() / width;
  std::vector<float> mixed(width);
  for (int head = 0; head < heads; ++head) {
    std::vector<float> weighed(places);
    float total = 1e-3f;
    for (size_t at = 0; at < places; ++at) {
      float sum = 0;
      for (int i = head * head_width; i < (head + 1) * head_width; ++i)
        sum += all[i] * cache.keys[at * width + i];
      weighed[at] = sum * sum;
      total += weighed[at];
    }
    for (int i = head * head_width; i < (head + 1) * head_width; ++i) {
      float sum = 0;
      for (size_t at = 0; at < places; ++at)
        sum += weighed[at] * cache.values[at * width + i];
      mixed[i] = sum / total;
    }
  }
  const auto add = [&x](const std::vector<float>& sums) {
    for (int i = 0; i < width; ++i)
      x[i] += sums[i];
  };
  add(reference_product(weights.out, mixed, width));
  std::vector<float> hidden = reference_product(weights.widen, reference_norm(x), inner);
  for (float& each : hidden)
    each = each > 0 ? each * each : 0;
  add(reference_product(weights.narrow, hidden, width));
}

std::vector<float> reference(const std::vector<Weights>& weights, std::vector<float> x,
                             int tokens) {
  std::vector<Cache> caches(layers);
  for (int token = 0; token < tokens; ++token) {
    for (int layer = 0; layer < layers; ++layer)
      reference_layer(weights[layer], x, caches[layer]);
    x = reference_norm(x);
  }
  return x;
}

// A Step is a node of the graph whose parameters may be updated.
struct Step {
  cudaGraphNode_t node = nullptr;
  cudaKernelNodeParams call = {};
};

// Decoder holds the graph of one token.
class Decoder {
 public:
  Decoder(const std::vector<Weights>& weights, const std::vector<float>& start, int most)
      : most_(most), x_(sample::upload(start)) {
    for (float** buffer : {&normal_, &query_, &mixed_, &weights_, &hidden_})
      *buffer = keep(sample::allocate(buffer == &weights_ ? heads * most : inner));
    keep(x_);
    CHECK(cudaGraphCreate(&graph_, 0));
    for (const Weights& layer : weights)
      add_layer(layer);
    add(norm, 1, width, x_, x_);
    CHECK(cudaGraphInstantiate(&instance_, graph_, 0));
  }
  ~Decoder() {
    CHECK(cudaGraphExecDestroy(instance_));
    CHECK(cudaGraphDestroy(graph_));
    for (float* buffer : buffers_)
      CHECK(cudaFree(buffer));
  }

  void decode(int token) {
    int place = token, places = token + 1;
    for (size_t i = 0; i < placed_.size(); i += 3) {
      update(placed_[i], 5, &place);
      update(placed_[i + 1], 3, &places);
      update(placed_[i + 2], 3, &places);
    }
    CHECK(cudaGraphLaunch(instance_, nullptr));
  }
  std::vector<float> result() const { return sample::download(x_, width); }

 private:
  float* keep(float* buffer) {
    buffers_.push_back(buffer);
    return buffer;
  }

  // add() puts a kernel behind the last one and returns its node.
  template <class... Parameters, class... Arguments>
  Step add(void (*kernel)(Parameters...), unsigned blocks, unsigned threads,
           Arguments... arguments) {
    std::tuple<Parameters...> values(arguments...);
    void* pointers[sizeof...(Parameters)];
    std::apply(
        [&](auto&... value) {
          size_t i = 0;
          ((pointers[i++] = &value), ...);
        },
        values);
    Step step;
    step.call.func = reinterpret_cast<void*>(kernel);
    step.call.gridDim = dim3(blocks);
    step.call.blockDim = dim3(threads);
    step.call.kernelParams = pointers;
    CHECK(cudaGraphAddKernelNode(&step.node, graph_, &last_, last_ == nullptr ? 0 : 1, &step.call));
    last_ = step.node;
    return step;
  }

  void add_layer(const Weights& weights) {
    float* keys = keep(sample::allocate(size_t(most_) * width));
    float* values = keep(sample::allocate(size_t(most_) * width));
    const auto upload = [this](const std::vector<float>& matrix) {
      return keep(sample::upload(matrix));
    };
    add(norm, 1, width, x_, normal_);
    placed_.push_back(add(project, 3 * width / 64, 64, upload(weights.project), normal_, query_,
                          keys, values, 0));
    placed_.push_back(add(weigh, heads, most_, query_, keys, weights_, 1, most_));
    placed_.push_back(add(mix, heads, head_width, weights_, values, mixed_, 1, most_));
    add(add_product, width / 64, 64, upload(weights.out), mixed_, x_, width);
    add(norm, 1, width, x_, normal_);
    add(widen, inner / 64, 64, upload(weights.widen), normal_, hidden_);
    add(add_product, width / 64, 64, upload(weights.narrow), hidden_, x_, inner);
  }

  // update() sets one parameter of a step; the others stay as they are in the graph.
  void update(Step& step, int which, int* value) {
    cudaKernelNodeParams call = {};
    CHECK(cudaGraphKernelNodeGetParams(step.node, &call));
    void* pointers[6];
    const int count = which == 5 ? 6 : 5;
    for (int i = 0; i < count; ++i)
      pointers[i] = i == which ? value : call.kernelParams[i];
    call.kernelParams = pointers;
    CHECK(cudaGraphExecKernelNodeSetParams(instance_, step.node, &call));
  }

  const int most_;
  std::vector<float*> buffers_;
  float *x_ = nullptr, *normal_ = nullptr, *query_ = nullptr, *mixed_ = nullptr,
        *weights_ = nullptr, *hidden_ = nullptr;
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t instance_ = nullptr;
  cudaGraphNode_t last_ = nullptr;
  std::vector<Step> placed_;  // project, weigh and mix of each layer
};

}  // namespace

int main(int argc, char** argv) {
  int tokens = 64;
  sample::parse_options("decode", argc, argv, {{"tokens", {&tokens}, 1, 1024}});
  std::vector<Weights> weights;
  for (uint32_t layer = 0; layer < layers; ++layer)
    weights.emplace_back(layer);
  const std::vector<float> start = sample::pattern(width, 99);
  Decoder decoder(weights, start, tokens);
  sample::Stopwatch watch;
  for (int token = 0; token < tokens; ++token)
    decoder.decode(token);
  const double seconds = watch.seconds();
  return sample::report(
      sample::shape_text("tokens", tokens, "layers", layers), decoder.result(),
      [&] { return reference(weights, start, tokens); }, seconds);
}
