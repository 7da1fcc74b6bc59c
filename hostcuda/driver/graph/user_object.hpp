// Things of the program's that live as long as graphs need them.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>

#include "hostcuda/driver/device/cuda_api.hpp"

namespace sluice::hostcuda {

// UserObject is what a CUuserObject stands for: a count of references. When the last one goes,
// the handle ends and the program's function is called, on a thread that serves all user objects,
// since references may go anywhere, under locks too. Thread-safe.
class UserObject {
 public:
  // create() makes an object and its handle; throws where there is no thread to be had.
  static CUuserObject create(void* data, CUhostFn destroy, uint64_t count);
  // find() returns nullptr for any other handle.
  static std::shared_ptr<UserObject> find(CUuserObject handle);

  void retain(uint64_t count) { count_.fetch_add(count); }
  // release() returns false, and does nothing, where there are fewer references.
  bool release(uint64_t count);

 private:
  UserObject(void* data, CUhostFn destroy, uint64_t count)
      : data_(data), destroy_(destroy), count_(count) {}

  void* const data_;
  const CUhostFn destroy_;
  std::atomic<uint64_t> count_;
};

// UserReferences is what a graph, or what was made of one, holds of user objects. A copy retains
// what it copies; the end releases it.
class UserReferences {
 public:
  UserReferences() = default;
  UserReferences(const UserReferences& other);
  UserReferences& operator=(UserReferences other) noexcept;
  ~UserReferences();

  bool empty() const { return counts_.empty(); }
  // add() takes over references that are counted already.
  void add(std::shared_ptr<UserObject> object, uint64_t count);
  // release() returns false, and does nothing, where there are fewer.
  bool release(const std::shared_ptr<UserObject>& object, uint64_t count);

 private:
  std::map<std::shared_ptr<UserObject>, uint64_t> counts_;
};

}  // namespace sluice::hostcuda
