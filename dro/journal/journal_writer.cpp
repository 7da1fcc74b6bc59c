#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "base/log.hpp"
#include "dro/journal/journal.hpp"
#include "dro/journal/journal_batch.hpp"
#include "dro/journal/journal_format.hpp"

namespace sluice::dro {
namespace {

// Appending waits once so many words are waiting to be written.
constexpr size_t most_waiting = size_t{1} << 22;
// The writer is woken for so many; for fewer it looks again after a while, since waking a thread
// costs more than a launch.
constexpr size_t worth_waking = size_t{1} << 16;
constexpr std::chrono::milliseconds while_busy(2);
constexpr size_t batch_bytes = size_t{1} << 20;

// Output is the file, written by the writer's thread alone.
class Output {
 public:
  Output(std::string path, int descriptor) : path_(std::move(path)), file_(descriptor) {}
  ~Output() { ::close(file_); }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  // add() seals a line; write() writes all lines so far.
  void add(const std::string& line) {
    append_sealed(bytes_, line);
    bytes_ += '\n';
    if (bytes_.size() >= batch_bytes) write();
  }
  void write();

 private:
  const std::string path_;
  const int file_;
  bool failed_ = false;
  std::string bytes_;
};

void Output::write() {
  size_t written = 0;
  while (written < bytes_.size() && !failed_) {
    const ssize_t result = ::write(file_, bytes_.data() + written, bytes_.size() - written);
    if (result >= 0) {
      written += static_cast<size_t>(result);
    } else if (errno != EINTR) {
      failed_ = true;
      log::error("journal {}: cannot write: {}; the journal ends here", path_,
                 std::strerror(errno));
    }
  }
  bytes_.clear();
}

}  // namespace

struct JournalWriter::State {
  using Lock = std::unique_lock<std::mutex>;

  State(const std::string& path, int descriptor) : output(path, descriptor) {}

  // append() lets `add` put a record into the batch that waits.
  template <class Add>
  void append(Add&& add);
  void run(const std::string& header);

  Output output;          // writer thread only
  LaunchMiddles middles;  // writer thread only

  // Of whoever tells of launches, one at a time.
  LaunchDetails next_launch;           // as describe_launch() left it
  std::vector<LaunchDetails> in_full;  // by interned launch: as it was last added as a record

  std::mutex mutex;              // guards all that follows
  std::condition_variable work;  // the writer sleeps and there is work, or there is much of it
  std::condition_variable done;  // a batch has been written
  JournalBatch waiting;
  bool asleep = false;  // the writer, until it is woken
  int flushing = 0;     // flush() calls that wait
  bool writing = true;  // the header first
  bool ending = false;
  std::thread thread;
};

template <class Add>
void JournalWriter::State::append(Add&& add) {
  Lock lock(mutex);
  if (waiting.size() >= most_waiting) {
    done.wait(lock, [this] { return waiting.size() < most_waiting; });
  }
  const size_t before = waiting.size();
  add(waiting);
  const bool much = before < worth_waking && waiting.size() >= worth_waking;
  if (much || std::exchange(asleep, false)) work.notify_one();
}

// The writer sleeps once nothing came for a while; until then it looks now and again, so that a
// program that launches all the time never has to wake it.
void JournalWriter::State::run(const std::string& header) {
  output.add(header);
  output.write();
  JournalBatch batch;
  Lock lock(mutex);
  while (true) {
    writing = false;
    done.notify_all();
    const auto enough = [this] { return waiting.size() >= worth_waking || ending || flushing > 0; };
    work.wait_for(lock, while_busy, enough);
    if (waiting.empty()) {
      if (ending) return;
      asleep = true;
      work.wait(lock, [this] { return !waiting.empty() || ending; });
      asleep = false;
      continue;
    }
    batch.take(waiting);
    writing = true;
    lock.unlock();
    batch.for_each_line(middles, [this](const std::string& line) { output.add(line); });
    output.write();
    batch.clear();
    lock.lock();
  }
}

Result<std::unique_ptr<JournalWriter>> JournalWriter::open(const std::string& path, Rule rule,
                                                           const std::string& program) {
  const int saved_errno = errno;
  // Opening a pipe that nobody reads would wait.
  const int file =
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK, 0666);
  if (file < 0 || ::fcntl(file, F_SETFL, 0) < 0) {
    std::string reason = std::strerror(errno);
    errno = saved_errno;
    return system_error("cannot write the journal: " + reason, path,
                        "give a path that can be written");
  }
  auto state = std::make_unique<State>(path, file);
  // The program's signals are for its own threads.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  state->thread = std::thread(&State::run, state.get(), text_of(JournalHeader{rule, program}));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = saved_errno;
  return std::unique_ptr<JournalWriter>(new JournalWriter(std::move(state)));
}

JournalWriter::JournalWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}

JournalWriter::~JournalWriter() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->ending = true;
    state_->work.notify_one();
  }
  state_->thread.join();
}

void JournalWriter::describe_launch(const LaunchView& launch) {
  LaunchDetails& next = state_->next_launch;
  next.kernel = launch.kernel;
  next.grid = launch.grid;
  next.block = launch.block;
  next.stream = launch.stream;
  next.passed_through = launch.passed_through;
  next.widening = launch.widening;
}

void JournalWriter::note(Record record) {
  if (const auto* warning = std::get_if<WarningRecord>(&record)) {
    log::warning("{}", warning->text);
  }
  state_->append([&](JournalBatch& batch) { batch.add(std::move(record)); });
}

void JournalWriter::flush() {
  State::Lock lock(state_->mutex);
  ++state_->flushing;
  state_->work.notify_one();
  state_->done.wait(lock, [this] { return state_->waiting.empty() && !state_->writing; });
  --state_->flushing;
}

void JournalWriter::on_launch(const LaunchEntry& entry, InternedId interned,
                              std::span<const Dependence> dependences) {
  LaunchDetails* last = nullptr;  // of the same launch, where it can be repeated
  if (interned < JournalBatch::most_repeated) {
    if (state_->in_full.size() <= interned) state_->in_full.resize(interned + 1);
    last = &state_->in_full[interned];
  }
  const LaunchDetails& details = state_->next_launch;
  const bool repeats = last != nullptr && *last == details;
  state_->append([&](JournalBatch& batch) {
    if (repeats && batch.add_repeat(entry.number, interned, dependences)) return;
    batch.add(record_of(entry, details, interned, dependences));
  });
  if (last != nullptr && !repeats) *last = details;
}

// Launches of a row have the details that they had the last time.
bool JournalWriter::can_repeat(const LaunchRow& row, LaunchNumber first) const {
  return JournalBatch::can_add(row, first);
}

void JournalWriter::on_row(const LaunchRow& row, LaunchNumber first) {
  state_->append([&](JournalBatch& batch) { batch.add(row, first); });
}

void JournalWriter::on_given_up(const LaunchEntry& entry, InternedId interned) {
  LaunchDetails& details = state_->next_launch;
  details.passed_through = why_given_up;
  if (interned < state_->in_full.size()) state_->in_full[interned] = {};
  note(given_up_record(entry, details, interned));
}

void JournalWriter::on_opaque_launch(LaunchNumber number, const std::string& reason) {
  LaunchDetails& details = state_->next_launch;
  details.passed_through = reason.empty() ? "no reason was given" : reason;
  note(LaunchRecord{number, details, std::nullopt, {}, 0, {}, {}});
}

}  // namespace sluice::dro
