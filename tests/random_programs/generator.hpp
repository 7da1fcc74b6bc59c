// Draws programs: each call at random, and before it whatever CUDA needs to order it after the
// earlier calls that touch the same words.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "random_programs/ordering.hpp"
#include "random_programs/program.hpp"

namespace sluice::random_programs {

class Generator {
 public:
  explicit Generator(uint64_t seed);
  Program make();

 private:
  // Access is a piece of work of the device that reads or writes words of a buffer.
  struct Access {
    uint32_t first = 0;
    uint32_t end = 0;
    bool writes = false;
    Work work;
  };
  struct Held {
    uint32_t buffer = 0;
    uint32_t first = 0;
    uint32_t end = 0;
    bool writes = false;
  };

  uint32_t below(uint32_t end) { return static_cast<uint32_t>(dice_() % end); }
  bool chance(uint32_t percent) { return below(100) < percent; }
  uint32_t number() { return static_cast<uint32_t>(dice_()); }

  // What a call is drawn of. pick() answers false where the program has no such buffer.
  bool pick(bool (*fits)(Space), uint32_t words, Place& place);
  bool pick_two(bool (*to)(Space), bool (*from)(Space), Step& step);
  Stream any_stream() { return static_cast<Stream>(below(stream_count)); }
  uint8_t thread_for(Stream stream);
  static bool thread_owns(Stream stream);

  // The kinds of calls; each may add nothing where it does not fit.
  void add_buffer();
  void release_buffer();
  bool draw_launch(Step& step);
  bool repeat_launch(Step& step);
  void add_launches();
  void add_streams();
  void add_graph();
  void add_copy();
  void add_fill();
  void add_host_function();
  void add_hold();
  void add_poll();
  void add_host_access();
  void add_wait();
  void add_synchronisation();
  void add_new_stream();

  // put() adds work of the device with all that it touches; put_host() a call that waits.
  void put(Step step, const std::vector<Held>& touched);
  void put_waiting(Step step);
  void let_all_go();
  void order_after_conflicts(Stream stream, const std::vector<Held>& touched);
  void order_host_after(const Held& touched);
  void order(const Work& work, Stream before);
  void order_after_stream(Stream earlier, Stream later);
  void record(uint8_t event, Stream stream);
  void know_all();
  std::vector<Held> touched_by(const Step& launch) const;
  bool conflicts(const Access& access, const Held& touched) const;

  std::mt19937_64 dice_;
  Program program_;
  Ordering ordering_;
  std::vector<std::vector<Access>> accesses_;  // by buffer
  std::vector<bool> alive_;                    // by buffer
  Stream current_ =
      legacy;  // calls tend to stay on a stream, as windows hold one stream's launches
  std::vector<Step> drawn_;  // launches
  uint8_t holds_ = 0;
  std::vector<uint8_t> closed_;  // holds that were not let go
};

}  // namespace sluice::random_programs
