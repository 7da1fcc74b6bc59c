#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <functional>
#include <mutex>
#include <string_view>
#include <thread>
#include <unordered_map>
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

struct TextHash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};

}  // namespace

struct JournalWriter::State {
  using Lock = std::unique_lock<std::mutex>;

  State(std::string file_path, int descriptor) : path(std::move(file_path)), file(descriptor) {}

  // append() lets `add` put a record into the batch that waits.
  template <class Add>
  void append(Add&& add);
  void append_line(std::string text) {
    append([&](JournalBatch& batch) { batch.add_line(std::move(text)); });
  }
  uint32_t text_id(std::string_view text);
  bool repeats(const JournalBatch::LaunchHead& head);
  void run();
  void write(JournalBatch& batch);
  void write_all(const std::string& bytes);

  const std::string path;
  const int file;
  bool failed = false;  // writer thread only
  LaunchTexts texts;    // writer thread only
  std::string bytes;    // writer thread only

  // Of whoever tells of launches, one at a time.
  JournalBatch::LaunchHead next_launch;           // as describe_launch() left it
  std::vector<JournalBatch::LaunchHead> in_full;  // by interned launch: as it was last added
  std::unordered_map<std::string, uint32_t, TextHash, std::equal_to<>> text_ids = {{"", 0}};
  const std::pair<const std::string, uint32_t>* last_text = nullptr;  // of text_ids

  std::mutex mutex;              // guards all that follows
  std::condition_variable work;  // the writer sleeps and there is work, or there is much of it
  std::condition_variable done;  // a batch has been written
  JournalBatch waiting;
  bool asleep = false;  // the writer, until it is woken
  int flushing = 0;     // flush() calls that wait
  bool writing = false;
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

// text_id() numbers a text and hands new ones to the writer.
uint32_t JournalWriter::State::text_id(std::string_view text) {
  // A program launches a kernel many times in a row, or says nothing.
  if (text.empty()) return 0;
  if (last_text != nullptr && last_text->first == text) return last_text->second;
  const auto known = text_ids.find(text);
  if (known != text_ids.end()) {
    last_text = &*known;
    return known->second;
  }
  const auto id = static_cast<uint32_t>(text_ids.size());
  text_ids.emplace(text, id);
  append([&](JournalBatch& batch) { batch.add_text(std::string(text)); });
  return id;
}

// repeats() says whether a launch was last added in full with the same words, and notes that it is
// added now.
bool JournalWriter::State::repeats(const JournalBatch::LaunchHead& head) {
  if (head.interned >= JournalBatch::most_repeated) return false;
  if (in_full.size() <= head.interned) in_full.resize(head.interned + 1);
  JournalBatch::LaunchHead& last = in_full[head.interned];
  if (last.says_the_same(head)) return true;
  last = head;
  return false;
}

// The writer sleeps once nothing came for a while; until then it looks now and again, so that a
// program that launches all the time never has to wake it.
void JournalWriter::State::run() {
  JournalBatch batch;
  Lock lock(mutex);
  while (true) {
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
    write(batch);
    batch.clear();
    lock.lock();
    writing = false;
    done.notify_all();
  }
}

void JournalWriter::State::write(JournalBatch& batch) {
  batch.for_each_line(texts, [&](const std::string& line) {
    append_sealed(bytes, line);
    bytes += '\n';
    if (bytes.size() < batch_bytes) return;
    write_all(bytes);
    bytes.clear();
  });
  write_all(bytes);
  bytes.clear();
}

void JournalWriter::State::write_all(const std::string& bytes) {
  size_t written = 0;
  while (written < bytes.size() && !failed) {
    const ssize_t result = ::write(file, bytes.data() + written, bytes.size() - written);
    if (result >= 0) {
      written += static_cast<size_t>(result);
    } else if (errno != EINTR) {
      failed = true;
      log::error("journal {}: cannot write: {}; the journal ends here", path, std::strerror(errno));
    }
  }
}

Result<std::unique_ptr<JournalWriter>> JournalWriter::open(const std::string& path, Rule rule,
                                                           const std::string& program) {
  const int saved_errno = errno;
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) {
    std::string reason = std::strerror(errno);
    errno = saved_errno;
    return system_error("cannot write the journal: " + reason, path,
                        "give a path that can be written");
  }
  auto state = std::make_unique<State>(path, file);
  State* shared = state.get();
  // The program's signals are for its own threads.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  state->thread = std::thread([shared] { shared->run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  state->append_line(header_text({rule, program}));
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
  ::close(state_->file);
}

void JournalWriter::describe_launch(const LaunchView& launch) {
  JournalBatch::LaunchHead& next = state_->next_launch;
  next.kernel = state_->text_id(launch.kernel);
  next.reason = launch.passed_through.empty() ? 0 : state_->text_id(launch.passed_through);
  next.grid = launch.grid;
  next.block = launch.block;
  next.stream = launch.stream;
}

void JournalWriter::note_check(const CheckRecord& check) {
  state_->append_line(check_text(check));
}

void JournalWriter::note_tasks(TaskRecord tasks) {
  state_->append([&](JournalBatch& batch) { batch.add_tasks(std::move(tasks)); });
}

void JournalWriter::flush() {
  State::Lock lock(state_->mutex);
  ++state_->flushing;
  state_->work.notify_one();
  state_->done.wait(lock, [this] { return state_->waiting.empty() && !state_->writing; });
  --state_->flushing;
}

void JournalWriter::on_buffer_created(BufferId buffer, uint64_t bytes) {
  state_->append_line(buffer_text(buffer, bytes));
}

void JournalWriter::on_buffer_destroyed(BufferId buffer) {
  state_->append_line(free_text(buffer));
}

void JournalWriter::on_footprint(FootprintId id, const analysis::Footprint& footprint) {
  state_->append([&](JournalBatch& batch) { batch.add_footprint(id, footprint); });
}

void JournalWriter::on_edge_table(EdgeTableId id, const EdgeTable& table) {
  state_->append([&](JournalBatch& batch) { batch.add_edges(id, table); });
}

void JournalWriter::on_dro(const Dro& dro) {
  state_->append_line(dro_text(dro));
}

void JournalWriter::on_launch(const LaunchEntry& entry, InternedId interned,
                              std::span<const Dependence> dependences) {
  JournalBatch::LaunchHead head = std::exchange(state_->next_launch, {});
  head.number = entry.number;
  head.tracked = true;
  head.footprint = entry.footprint;
  head.interned = interned;
  const bool known = state_->repeats(head);
  state_->append([&](JournalBatch& batch) {
    if (known && batch.add_repeat(entry.number, interned, dependences)) return;
    batch.add_launch(head, entry.arguments, dependences);
  });
}

void JournalWriter::on_opaque_launch(LaunchNumber number, const std::string& reason) {
  JournalBatch::LaunchHead head = std::exchange(state_->next_launch, {});
  head.number = number;
  head.reason = state_->text_id(reason.empty() ? "no reason was given" : reason);
  state_->append([&](JournalBatch& batch) { batch.add_launch(head, {}, {}); });
}

void JournalWriter::on_host_write(BufferId buffer, uint64_t begin, uint64_t end) {
  state_->append_line(host_write_text(buffer, begin, end));
}

void JournalWriter::on_warning(const std::string& text) {
  log::warning("{}", text);
  state_->append_line(warning_text(text));
}

}  // namespace sluice::dro
