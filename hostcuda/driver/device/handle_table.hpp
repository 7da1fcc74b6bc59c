// Handles that a program holds, and the objects behind them.
#pragma once

#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <utility>
#include <vector>

namespace sluice::hostcuda {

// HandleTable knows every live object of one kind by its handle, so that a stale or wild handle is
// an error and never a crash. Thread-safe.
template <class T, class Handle>
class HandleTable {
 public:
  // add() makes the object's address its handle.
  Handle add(std::shared_ptr<T> object) {
    const Handle handle = reinterpret_cast<Handle>(object.get());
    const std::unique_lock lock(mutex_);
    objects_[handle] = std::move(object);
    return handle;
  }

  // find() returns the object, or nullptr where the handle is none of this table's.
  std::shared_ptr<T> find(Handle handle) const {
    const std::shared_lock lock(mutex_);
    const auto found = objects_.find(handle);
    return found == objects_.end() ? nullptr : found->second;
  }

  // remove() forgets the handle and returns the object, or nullptr where there was none.
  std::shared_ptr<T> remove(Handle handle) {
    const std::unique_lock lock(mutex_);
    const auto found = objects_.find(handle);
    if (found == objects_.end()) return nullptr;
    std::shared_ptr<T> object = std::move(found->second);
    objects_.erase(found);
    return object;
  }

  // remove_if() forgets and returns every object for which predicate(object) holds.
  template <class Predicate>
  std::vector<std::shared_ptr<T>> remove_if(Predicate predicate) {
    std::vector<std::shared_ptr<T>> removed;
    const std::unique_lock lock(mutex_);
    for (auto next = objects_.begin(); next != objects_.end();) {
      if (predicate(*next->second)) {
        removed.push_back(std::move(next->second));
        next = objects_.erase(next);
      } else {
        ++next;
      }
    }
    return removed;
  }

 private:
  mutable std::shared_mutex mutex_;
  std::unordered_map<Handle, std::shared_ptr<T>> objects_;
};

}  // namespace sluice::hostcuda
