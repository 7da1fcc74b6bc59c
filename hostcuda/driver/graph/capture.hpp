// Stream capture: work that a stream would do becomes nodes of a graph.
#pragma once

#include <memory>
#include <vector>

#include "hostcuda/driver/driver.hpp"
#include "hostcuda/driver/graph/graph.hpp"

namespace sluice::hostcuda {

// CapturedPlace is what an event recorded under capture stands for: the nodes that who waits for it
// comes after.
struct CapturedPlace {
  std::shared_ptr<StreamCapture> capture;
  std::vector<GraphNode*> nodes;
};

// is_captured() says whether the stream takes part in a capture. Cheap.
inline bool is_captured(const StreamRef& stream) {
  return stream->is_captured.load(std::memory_order_acquire);
}

// submit() gives an operation to a stream, or, where it is captured, makes it a node of the graph.
CUresult submit(Driver& driver, const StreamRef& stream, SharedOperation operation);

// add_to_capture() makes a node of a captured stream's graph; null where the capture has ended on
// another thread meanwhile.
std::shared_ptr<GraphNode> add_to_capture(const StreamRef& stream, SharedOperation operation);

// The functions of cuda.h of the same meaning. begin_capture() may continue an existing graph after
// nodes of it.
CUresult begin_capture(Driver& driver, const StreamRef& stream, CUstreamCaptureMode mode,
                       std::shared_ptr<Graph> graph = nullptr, std::vector<GraphNode*> after = {});
CUresult end_capture(const StreamRef& stream, std::shared_ptr<Graph>* graph);

// What a capture tells of itself. `after` lists what the stream's next node comes after; the array
// is valid until the stream's next call.
struct CaptureState {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  unsigned long long id = 0;
  std::shared_ptr<Graph> graph;
  const CUgraphNode* after = nullptr;
  size_t count = 0;
};
CaptureState capture_state(const StreamRef& stream);
CUresult update_dependencies(const StreamRef& stream, const std::vector<GraphNode*>& nodes,
                             bool replaces);

// record_under_capture() makes the event stand for the stream's place in the graph, and
// wait_under_capture() makes the stream come after the event's, joining its capture where it took
// part in none. An event of another capture is CUDA_ERROR_STREAM_CAPTURE_ISOLATION.
CUresult record_under_capture(const StreamRef& stream, Event& event);
CUresult wait_under_capture(const StreamRef& stream, const Event& event);

// invalidate_capture() is what an operation does that a capture cannot hold.
CUresult invalidate_capture(const StreamRef& stream);

}  // namespace sluice::hostcuda
