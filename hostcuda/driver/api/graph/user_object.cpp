// Things of the program's that graphs keep alive.
#include "hostcuda/driver/graph/user_object.hpp"

#include <climits>

#include "hostcuda/driver/api/graph/graph_entry.hpp"

using namespace sluice::hostcuda;

namespace {

bool is_count(unsigned count) {
  return count != 0 && count <= INT_MAX;
}

// with_object() calls body(const std::shared_ptr<UserObject>&).
template <class Body>
CUresult with_object(CUuserObject handle, unsigned count, Body&& body) noexcept {
  return with_driver([&](Driver&) -> CUresult {
    const std::shared_ptr<UserObject> object = UserObject::find(handle);
    return object == nullptr || !is_count(count) ? CUDA_ERROR_INVALID_VALUE : body(object);
  });
}

}  // namespace

CUresult cuUserObjectCreate(CUuserObject* handle, void* data, CUhostFn destroy, unsigned int count,
                            unsigned int flags) {
  return with_driver([&](Driver&) -> CUresult {
    if (handle == nullptr || destroy == nullptr || !is_count(count) ||
        flags != CU_USER_OBJECT_NO_DESTRUCTOR_SYNC) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    *handle = UserObject::create(data, destroy, count);
    return CUDA_SUCCESS;
  });
}

CUresult cuUserObjectRetain(CUuserObject handle, unsigned int count) {
  return with_object(handle, count, [&](const std::shared_ptr<UserObject>& object) -> CUresult {
    object->retain(count);
    return CUDA_SUCCESS;
  });
}

CUresult cuUserObjectRelease(CUuserObject handle, unsigned int count) {
  return with_object(handle, count, [&](const std::shared_ptr<UserObject>& object) -> CUresult {
    return object->release(count) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult cuGraphRetainUserObject(CUgraph graph_handle, CUuserObject handle, unsigned int count,
                                 unsigned int flags) {
  return with_object(handle, count, [&](const std::shared_ptr<UserObject>& object) {
    return with_graph(graph_handle, [&](Driver&, Graph& graph) -> CUresult {
      if ((flags & ~CU_GRAPH_USER_OBJECT_MOVE) != 0) return CUDA_ERROR_INVALID_VALUE;
      if (flags == 0) object->retain(count);
      graph.user_references().add(object, count);
      return CUDA_SUCCESS;
    });
  });
}

CUresult cuGraphReleaseUserObject(CUgraph graph_handle, CUuserObject handle, unsigned int count) {
  return with_object(handle, count, [&](const std::shared_ptr<UserObject>& object) {
    return with_graph(graph_handle, [&](Driver&, Graph& graph) -> CUresult {
      return graph.user_references().release(object, count) ? CUDA_SUCCESS
                                                            : CUDA_ERROR_INVALID_VALUE;
    });
  });
}
