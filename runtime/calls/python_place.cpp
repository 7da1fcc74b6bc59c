#include "runtime/calls/python_place.hpp"

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string_view>
#include <tuple>

#include <dlfcn.h>
#include <link.h>

namespace sluice::runtime {
namespace {

// Python is what the interpreter in this process exports, of its stable C API. Objects are opaque.
struct Python {
  int (*is_initialized)();
  int (*is_finalizing)();  // of 3.13, or its private name before
  void* (*this_thread_state)();
  int (*take_lock)();
  void (*give_lock)(int);
  void* (*frame)();      // borrowed
  void* (*back)(void*);  // new
  void* (*code)(void*);  // new
  int (*line)(void*);
  void* (*attribute)(void*, const char*);  // new
  const char* (*text)(void*);
  void (*release)(void*);
  void (*clear_error)();

  bool is_whole() const {
    return is_initialized && is_finalizing && this_thread_state && take_lock && give_lock &&
           frame && back && code && line && attribute && text && release && clear_error;
  }
};

template <class Function>
bool find(Function& function, const char* name) {
  function = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
  return function != nullptr;
}

uint64_t libraries_ever_loaded() {
  uint64_t count = 0;
  const auto first = [](dl_phdr_info* info, size_t, void* loaded) {
    *static_cast<uint64_t*>(loaded) = info->dlpi_adds;
    return 1;
  };
  dl_iterate_phdr(first, &count);
  return count;
}

// A program that has it as a library may load it later: it is looked for when others are there than
// last time.
Python find_python() {
  static std::atomic<const Python*> found = nullptr;
  static std::atomic<uint64_t> looked_at = 0;
  if (const Python* const known = found.load()) return *known;
  Python python = {};
  const uint64_t loaded = libraries_ever_loaded();
  if (looked_at.exchange(loaded) == loaded) return python;
  if (!find(python.is_initialized, "Py_IsInitialized")) return python;
  if (!find(python.is_finalizing, "Py_IsFinalizing"))
    find(python.is_finalizing, "_Py_IsFinalizing");
  find(python.this_thread_state, "PyGILState_GetThisThreadState");
  find(python.take_lock, "PyGILState_Ensure");
  find(python.give_lock, "PyGILState_Release");
  find(python.frame, "PyEval_GetFrame");
  find(python.back, "PyFrame_GetBack");
  find(python.code, "PyFrame_GetCode");
  find(python.line, "PyFrame_GetLineNumber");
  find(python.attribute, "PyObject_GetAttrString");
  find(python.text, "PyUnicode_AsUTF8");
  find(python.release, "Py_DecRef");
  find(python.clear_error, "PyErr_Clear");
  if (python.is_whole()) found.store(new Python(python));
  return python;
}

std::string text_of(const Python& python, void* code, const char* attribute) {
  void* const object = python.attribute(code, attribute);
  const char* const text = object != nullptr ? python.text(object) : nullptr;
  const std::string found = text != nullptr ? text : "";
  if (object != nullptr) python.release(object);
  if (text == nullptr) python.clear_error();
  return found;
}

// The standard library, packages, and what is made at run time.
bool is_of_others(std::string_view file) {
  for (const std::string_view part : {"/site-packages/", "/dist-packages/", "/lib/python3"})
    if (file.find(part) != std::string_view::npos) return true;
  return file.empty() || file.starts_with('<');
}

PythonPlace place_of(const Python& python, void* frame) {
  PythonPlace place;
  void* const code = python.code(frame);
  if (code == nullptr) return place;
  place.file = text_of(python, code, "co_filename");
  place.function = text_of(python, code, "co_name");
  place.line = python.line(frame);
  python.release(code);
  return place;
}

// innermost() is the first frame that is the program's own.
PythonPlace innermost(const Python& python) {
  void* frame = python.frame();
  PythonPlace place;
  bool is_ours = false;  // to release
  while (frame != nullptr) {
    place = place_of(python, frame);
    void* const next = is_of_others(place.file) ? python.back(frame) : nullptr;
    if (is_ours) python.release(frame);
    frame = next;
    is_ours = true;
  }
  return place;
}

const PythonPlace* kept(const PythonPlace& place) {
  const auto less = [](const PythonPlace& a, const PythonPlace& b) {
    return std::tie(a.file, a.line, a.function) < std::tie(b.file, b.line, b.function);
  };
  static auto* const mutex = new std::mutex;
  static auto* const all = new std::set<PythonPlace, decltype(less)>(less);
  const std::lock_guard lock(*mutex);
  return &*all->insert(place).first;
}

struct Launches {
  std::mutex mutex;
  std::map<std::string, const PythonPlace*> places;  // null: several
};
Launches& launches() {
  static auto* const all = new Launches;
  return *all;
}

}  // namespace

const PythonPlace* python_place() {
  const Python python = find_python();
  if (!python.is_whole() || python.is_initialized() == 0 || python.is_finalizing() != 0)
    return nullptr;
  if (python.this_thread_state() == nullptr) return nullptr;
  const int state = python.take_lock();
  const PythonPlace place = innermost(python);
  python.give_lock(state);
  return is_of_others(place.file) ? nullptr : kept(place);
}

void note_launch(const std::string& kernel, const PythonPlace* place) {
  const std::lock_guard lock(launches().mutex);
  const auto [known, is_new] = launches().places.try_emplace(kernel, place);
  if (!is_new && known->second != place) known->second = nullptr;
}

const PythonPlace* launched_at(const std::string& kernel) {
  const std::lock_guard lock(launches().mutex);
  const auto known = launches().places.find(kernel);
  return known == launches().places.end() ? nullptr : known->second;
}

}  // namespace sluice::runtime
