#include "hostcuda/driver/graph/capture.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <utility>

namespace sluice::hostcuda {

// StreamCapture is one capture, of the stream that began it and all that joined.
class StreamCapture {
 public:
  struct Place {
    std::weak_ptr<Stream> stream;
    std::vector<GraphNode*> after;
    std::vector<CUgraphNode> handles;  // of `after`, for who asks
  };

  std::shared_ptr<Graph> graph;
  unsigned long long id = 0;
  const Stream* origin = nullptr;
  bool is_valid = true;
  std::map<const Stream*, Place> places;
};

namespace {

// One lock for all captures: they are rare, and an event can tie two streams together.
std::mutex& lock_of_captures() {
  static auto* mutex = new std::mutex;
  return *mutex;
}

void collect_ancestors(const GraphNode* node, std::set<const GraphNode*>* seen) {
  if (!seen->insert(node).second) return;
  for (const GraphNode* earlier : node->after)
    collect_ancestors(earlier, seen);
}

// Whether all that other streams have captured is waited for by the stream that ends the capture.
bool is_joined(const StreamCapture& capture) {
  std::set<const GraphNode*> ancestors;
  for (const GraphNode* node : capture.places.at(capture.origin).after)
    collect_ancestors(node, &ancestors);
  return std::all_of(capture.places.begin(), capture.places.end(), [&](const auto& entry) {
    return std::all_of(entry.second.after.begin(), entry.second.after.end(),
                       [&](const GraphNode* node) { return ancestors.contains(node); });
  });
}

void add_unique(std::vector<GraphNode*>* nodes, const std::vector<GraphNode*>& more) {
  for (GraphNode* node : more) {
    if (std::find(nodes->begin(), nodes->end(), node) == nodes->end()) nodes->push_back(node);
  }
}

void join(const std::shared_ptr<StreamCapture>& capture, const StreamRef& stream,
          std::vector<GraphNode*> after) {
  capture->places[stream.get()] = {stream, std::move(after), {}};
  stream->capture = capture;
  stream->is_captured.store(true, std::memory_order_release);
}

void leave(Stream& stream) {
  stream.capture.reset();
  stream.is_captured.store(false, std::memory_order_release);
}

}  // namespace

std::shared_ptr<GraphNode> add_to_capture(const StreamRef& stream, SharedOperation operation) {
  const std::lock_guard lock(lock_of_captures());
  if (stream->capture == nullptr) return nullptr;
  StreamCapture& capture = *stream->capture;
  StreamCapture::Place& place = capture.places[stream.get()];
  std::shared_ptr<GraphNode> node = capture.graph->add(std::move(operation), place.after);
  place.after = {node.get()};
  return node;
}

CUresult submit(Driver& driver, const StreamRef& stream, SharedOperation operation) {
  if (is_captured(stream) && add_to_capture(stream, operation) != nullptr) return CUDA_SUCCESS;
  driver.engine.submit(stream->queue, std::move(operation));
  return CUDA_SUCCESS;
}

CUresult begin_capture(Driver& driver, const StreamRef& stream, CUstreamCaptureMode mode,
                       std::shared_ptr<Graph> graph, std::vector<GraphNode*> after) {
  if (mode != CU_STREAM_CAPTURE_MODE_GLOBAL && mode != CU_STREAM_CAPTURE_MODE_THREAD_LOCAL &&
      mode != CU_STREAM_CAPTURE_MODE_RELAXED) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (stream->queue->kind() == QueueKind::legacy) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  const std::lock_guard lock(lock_of_captures());
  if (stream->capture != nullptr) return CUDA_ERROR_ILLEGAL_STATE;
  auto capture = std::make_shared<StreamCapture>();
  capture->graph = graph != nullptr ? std::move(graph) : std::make_shared<Graph>();
  capture->id = driver.next_id();
  capture->origin = stream.get();
  join(capture, stream, std::move(after));
  return CUDA_SUCCESS;
}

CUresult end_capture(const StreamRef& stream, std::shared_ptr<Graph>* graph) {
  const std::lock_guard lock(lock_of_captures());
  const std::shared_ptr<StreamCapture> capture = stream->capture;
  if (capture == nullptr) return CUDA_ERROR_ILLEGAL_STATE;
  if (capture->origin != stream.get()) return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
  const bool joined = is_joined(*capture);
  for (auto& [raw, place] : capture->places) {
    if (const StreamRef member = place.stream.lock(); member && member->capture == capture) {
      leave(*member);
    }
  }
  if (!capture->is_valid) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  if (!joined) return CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
  *graph = capture->graph;
  return CUDA_SUCCESS;
}

CaptureState capture_state(const StreamRef& stream) {
  const std::lock_guard lock(lock_of_captures());
  if (stream->capture == nullptr) return {};
  StreamCapture& capture = *stream->capture;
  StreamCapture::Place& place = capture.places[stream.get()];
  place.handles.clear();
  for (GraphNode* node : place.after)
    place.handles.push_back(node->handle());
  return {capture.is_valid ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_INVALIDATED,
          capture.id, capture.graph, place.handles.data(), place.handles.size()};
}

CUresult update_dependencies(const StreamRef& stream, const std::vector<GraphNode*>& nodes,
                             bool replaces) {
  const std::lock_guard lock(lock_of_captures());
  if (stream->capture == nullptr) return CUDA_ERROR_ILLEGAL_STATE;
  StreamCapture& capture = *stream->capture;
  for (const GraphNode* node : nodes) {
    if (!capture.graph->owns(node)) return CUDA_ERROR_INVALID_VALUE;
  }
  std::vector<GraphNode*>& after = capture.places[stream.get()].after;
  if (replaces) after.clear();
  add_unique(&after, nodes);
  return CUDA_SUCCESS;
}

CUresult record_under_capture(const StreamRef& stream, Event& event) {
  const std::lock_guard lock(lock_of_captures());
  if (stream->capture == nullptr) return CUDA_ERROR_ILLEGAL_STATE;
  event.set_captured(std::make_shared<const CapturedPlace>(
      CapturedPlace{stream->capture, stream->capture->places[stream.get()].after}));
  return CUDA_SUCCESS;
}

CUresult wait_under_capture(const StreamRef& stream, const Event& event) {
  const std::lock_guard lock(lock_of_captures());
  const std::shared_ptr<const CapturedPlace> place = event.captured();
  if (place == nullptr) {
    // An event of before the capture: a graph could only wait for its record once and for all.
    return stream->capture == nullptr ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
  }
  if (stream->capture == nullptr) {
    if (stream->queue->kind() == QueueKind::legacy) return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    // The event's capture has ended, and its graph may be gone.
    const auto origin = place->capture->places.find(place->capture->origin);
    const StreamRef began =
        origin == place->capture->places.end() ? nullptr : origin->second.stream.lock();
    if (began == nullptr || began->capture != place->capture) return CUDA_ERROR_CAPTURED_EVENT;
    join(place->capture, stream, place->nodes);
    return CUDA_SUCCESS;
  }
  if (stream->capture != place->capture) return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
  add_unique(&stream->capture->places[stream.get()].after, place->nodes);
  return CUDA_SUCCESS;
}

CUresult invalidate_capture(const StreamRef& stream) {
  const std::lock_guard lock(lock_of_captures());
  if (stream->capture != nullptr) stream->capture->is_valid = false;
  return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

}  // namespace sluice::hostcuda
