#include "hostcuda/driver/graph/user_object.hpp"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <utility>

#include "hostcuda/driver/device/handle_table.hpp"
#include "hostcuda/driver/stream/threads.hpp"

namespace sluice::hostcuda {
namespace {

HandleTable<UserObject, CUuserObject>& objects() {
  static auto* table = new HandleTable<UserObject, CUuserObject>;
  return *table;
}

// Destroyer calls the program's functions one after the other, and sleeps when there is none.
class Destroyer {
 public:
  static Destroyer& get() {
    static auto* destroyer = new Destroyer;
    return *destroyer;
  }

  void add(CUhostFn destroy, void* data) noexcept {
    try {
      const std::lock_guard lock(mutex_);
      ended_.emplace_back(destroy, data);
    } catch (...) {
      destroy(data);
      return;
    }
    has_ended_.notify_one();
  }

 private:
  Destroyer() {
    start_daemon_thread("sluice-objects", [this] { serve(); });
  }

  [[noreturn]] void serve() {
    std::unique_lock lock(mutex_);
    for (;;) {
      has_ended_.wait(lock, [&] { return !ended_.empty(); });
      const auto [destroy, data] = ended_.front();
      ended_.pop_front();
      lock.unlock();
      destroy(data);
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable has_ended_;
  std::deque<std::pair<CUhostFn, void*>> ended_;
};

}  // namespace

CUuserObject UserObject::create(void* data, CUhostFn destroy, uint64_t count) {
  Destroyer::get();
  return objects().add(std::shared_ptr<UserObject>(new UserObject(data, destroy, count)));
}

std::shared_ptr<UserObject> UserObject::find(CUuserObject handle) {
  return objects().find(handle);
}

bool UserObject::release(uint64_t count) {
  uint64_t before = count_.load();
  do {
    if (count > before) return false;
  } while (!count_.compare_exchange_weak(before, before - count));
  if (before == count) {
    const std::shared_ptr<UserObject> keep = objects().remove(reinterpret_cast<CUuserObject>(this));
    Destroyer::get().add(destroy_, data_);
  }
  return true;
}

UserReferences::UserReferences(const UserReferences& other) : counts_(other.counts_) {
  for (const auto& [object, count] : counts_)
    object->retain(count);
}

UserReferences& UserReferences::operator=(UserReferences other) noexcept {
  counts_.swap(other.counts_);
  return *this;
}

UserReferences::~UserReferences() {
  for (const auto& [object, count] : counts_)
    object->release(count);
}

void UserReferences::add(std::shared_ptr<UserObject> object, uint64_t count) {
  counts_[std::move(object)] += count;
}

bool UserReferences::release(const std::shared_ptr<UserObject>& object, uint64_t count) {
  const auto found = counts_.find(object);
  if (found == counts_.end() || found->second < count) return false;
  found->second -= count;
  if (found->second == 0) counts_.erase(found);
  return object->release(count);
}

}  // namespace sluice::hostcuda
