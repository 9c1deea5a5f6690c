#pragma once

// An array whose copies share their elements until an element is written (copy on write).
// ClusterSnapshot consists of such arrays. Elements lie in chunks. A write copies one chunk, and a
// shared copy costs one pointer per chunk.
//
// Threading: the array itself has one owner at a time; any thread may read the copies that Share()
// returned, which are immutable.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace synergy {

template <class T>
class CowArray {
 public:
  static constexpr size_t kChunkSize = 64;

  size_t size() const { return size_; }
  const T& operator[](size_t i) const { return chunks_[i / kChunkSize]->items[i % kChunkSize]; }

  // Returns the element for writing; the reference is valid until the next Share().
  T& Mutable(size_t i) {
    std::shared_ptr<Chunk>& chunk = chunks_[i / kChunkSize];
    if (chunk->epoch != epoch_) {
      chunk = std::make_shared<Chunk>(*chunk);
      chunk->epoch = epoch_;
    }
    return chunk->items[i % kChunkSize];
  }

  T& Append() {
    if (size_ == chunks_.size() * kChunkSize) {
      chunks_.push_back(std::make_shared<Chunk>());
      chunks_.back()->epoch = epoch_;
    }
    return Mutable(size_++);
  }

  // Returns a copy that later writes to this array do not affect.
  CowArray Share() {
    // From now on these chunks also belong to the copy. Comparing epochs instead of use_count()
    // avoids races with readers that release a copy.
    CowArray copy = *this;
    ++epoch_;
    return copy;
  }

 private:
  struct Chunk {
    std::array<T, kChunkSize> items{};
    uint64_t epoch = 0;
  };

  std::vector<std::shared_ptr<Chunk>> chunks_;
  size_t size_ = 0;
  uint64_t epoch_ = 0;
};

}  // namespace synergy
