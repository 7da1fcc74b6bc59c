// The kinds of work that a program submits: what a stream takes and a graph's nodes hold.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "base/dim3.hpp"
#include "hostcuda/block_abi.h"
#include "hostcuda/driver/device/context.hpp"
#include "hostcuda/driver/device/cuda_api.hpp"
#include "hostcuda/driver/memory/copy_box.hpp"
#include "hostcuda/driver/stream/stream.hpp"
#include "hostcuda/driver/stream/work.hpp"

namespace sluice::hostcuda {

// Operation is work that can be captured. All operations are immutable.
class Operation : public Work {
 public:
  virtual CUgraphNodeType node_type() const = 0;
  // describe() adds what the operation does to the steps; false where it is nothing that they tell.
  virtual bool describe(std::vector<SluiceGraphStep>& /*steps*/) const { return false; }
};

using SharedOperation = std::shared_ptr<const Operation>;

// CopyOperation copies a box of bytes.
class CopyOperation final : public Operation {
 public:
  // `parameters` is the copy as the program asked for it.
  CopyOperation(const Copy& copy, const CUDA_MEMCPY3D& parameters)
      : copy_(copy), parameters_(parameters) {}
  CUresult run(BlockPool& pool) const override {
    perform(copy_, &pool);
    return CUDA_SUCCESS;
  }
  void describe_use(HostUse& use) const override;
  CUresult run_watched(BlockPool& pool, const WatchedRun& watched) const override;
  CUgraphNodeType node_type() const override { return CU_GRAPH_NODE_TYPE_MEMCPY; }
  bool describe(std::vector<SluiceGraphStep>& steps) const override;
  const CUDA_MEMCPY3D& parameters() const { return parameters_; }

 private:
  const Copy copy_;
  const CUDA_MEMCPY3D parameters_;
};

// FillOperation fills a box of elements.
class FillOperation final : public Operation {
 public:
  explicit FillOperation(const Fill& fill) : fill_(fill) {}
  CUresult run(BlockPool& pool) const override {
    perform(fill_, &pool);
    return CUDA_SUCCESS;
  }
  void describe_use(HostUse& use) const override;
  CUgraphNodeType node_type() const override { return CU_GRAPH_NODE_TYPE_MEMSET; }
  bool describe(std::vector<SluiceGraphStep>& steps) const override;
  const Fill& fill() const { return fill_; }

 private:
  const Fill fill_;
};

// HostOperation calls a function of the program with the submitter's context current, so that it
// can submit work itself.
class HostOperation : public Operation {
 public:
  HostOperation(Context& context, CUhostFn function, void* data)
      : context_(context), function_(function), data_(data) {}
  CUresult run(BlockPool&) const override;
  bool calls_the_program() const override { return true; }
  CUgraphNodeType node_type() const override { return CU_GRAPH_NODE_TYPE_HOST; }
  CUhostFn function() const { return function_; }
  void* data() const { return data_; }

 private:
  Context& context_;
  const CUhostFn function_;
  void* const data_;
};

// BlocksOperation calls a function that runs blocks, and so does what a launch would.
class BlocksOperation final : public HostOperation {
 public:
  using HostOperation::HostOperation;
  bool calls_the_program() const override { return false; }
  // Whoever asks for it counts the launches in it.
  bool takes_room() const override { return false; }
};

// EventOperation reaches an event.
class EventOperation final : public Operation {
 public:
  explicit EventOperation(std::shared_ptr<Event> event) : event_(std::move(event)) {}
  CUresult run(BlockPool&) const override {
    event_->reach();
    return CUDA_SUCCESS;
  }
  CUgraphNodeType node_type() const override { return CU_GRAPH_NODE_TYPE_EVENT_RECORD; }

 private:
  const std::shared_ptr<Event> event_;
};

// NothingOperation does nothing: an empty node, or the place of a node whose work is elsewhere.
class NothingOperation final : public Operation {
 public:
  explicit NothingOperation(CUgraphNodeType type) : type_(type) {}
  CUresult run(BlockPool&) const override { return CUDA_SUCCESS; }
  CUgraphNodeType node_type() const override { return type_; }
  bool describe(std::vector<SluiceGraphStep>&) const override {
    return type_ == CU_GRAPH_NODE_TYPE_EMPTY;
  }

 private:
  const CUgraphNodeType type_;
};

}  // namespace sluice::hostcuda
