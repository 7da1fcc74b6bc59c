// Runs a program by the functions of one driver.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "random_programs/driver_api.hpp"
#include "random_programs/helper_thread.hpp"
#include "random_programs/program.hpp"

namespace sluice::random_programs {

// Answers is all that a program leaves: what the host read on the way, and the words of every
// buffer and of the module's variable at the end.
using Answers = std::vector<std::vector<uint32_t>>;

// Machine has streams, events and code that serve one program after the other. One machine is used
// by one thread; several may run at the same time.
class Machine {
 public:
  // `second` makes the calls of a program's second thread.
  Machine(const DriverApi& api, const std::string& ptx, HelperThread& second);
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  // run() throws CallFailed where a call fails.
  Answers run(const Program& program);

 private:
  struct Memory {
    CUdeviceptr address = 0;
    uint32_t* host = nullptr;  // where the host may use it
    std::vector<uint32_t> pageable;
    bool alive = false;
  };
  // HostWork is what a host function of the program does.
  struct HostWork {
    uint32_t* words = nullptr;
    uint32_t count = 0;
    uint32_t salt = 0;
    std::atomic<bool>* until = nullptr;
  };

  void step(size_t index);
  void make(const Step& step);
  void allocate(const Step& step);
  void release(const Step& step);
  void launch(const Step& step);
  void launch_graph(size_t index);
  CUgraph capture(const std::vector<Step>& steps);
  // change_graph() gives a node of an instantiated graph other numbers, update_graph() captures the
  // steps with other numbers and updates the instantiated graph from that.
  void change_graph(CUgraph graph, CUgraphExec executable, uint32_t salt);
  void update_graph(std::vector<Step>& steps, CUgraphExec executable, uint32_t salt);
  void copy(const Step& step);
  void copy_rows(const Step& step);
  void write_word(const Step& step);
  void fill(const Step& step);
  void fill_rows(const Step& step);
  void enqueue_host_work(const Step& step, HostWork work);
  void poll(const Step& step);
  void wait_for_event(const Step& step);
  void wait_for_stream(const Step& step);
  Answers collect();

  CUstream stream(const Step& step) const;
  CUdeviceptr address(const Place& place) const;
  uint32_t* host(const Place& place);
  void create_stream(Stream stream);

  static void CUDA_CB run_host_work(void* data);
  static void CUDA_CB run_callback(CUstream stream, CUresult status, void* data);

  const DriverApi& api_;
  HelperThread& second_;
  CUmodule module_ = nullptr;
  std::vector<CUfunction> kernels_;
  CUfunction raise_flag_ = nullptr;
  CUdeviceptr variable_ = 0;
  CUstream streams_[stream_count] = {};
  CUevent events_[event_count] = {};
  uint32_t* flag_ = nullptr;  // mapped memory that poll() watches

  const Program* program_ = nullptr;
  std::vector<Memory> memory_;
  Answers answers_;
  std::deque<HostWork> host_works_;
  std::deque<std::atomic<bool>> holds_;
};

}  // namespace sluice::random_programs
