// ExtenderArgs is the input of the hot path: up to 15,000 names, or 93 MB of whole nodes. The body
// is scanned once, without building a tree; only the pod is then read as an object.

#include <utility>

#include <fmt/format.h>

#include "wire/base/json_words.h"
#include "wire/extender/extender_messages.h"

namespace synergy::wire {
namespace {

// Reads the expected members, and remembers the first deviation.
class ArgsReader {
 public:
  ArgsReader(std::string_view body, ExtenderArgs& args) : scanner_(body), args_(args) {}

  Result<> Read() {
    const bool read = Members("", [this](std::string_view key) {
      if (key == "Pod") return ReadPod();
      if (key == "NodeNames") return ReadNames();
      if (key == "Nodes") return ReadNodes();
      return Skip();
    });
    if (read && scanner_.Peek() != '\0') Broken();
    if (!problem_.empty()) return Fail(ErrorCode::kInvalid, problem_);
    if (pod_text_.empty()) return Fail(ErrorCode::kInvalid, "Pod is missing");
    if (saw_names_ && args_.whole_nodes) {
      return Fail(ErrorCode::kInvalid, "both NodeNames and Nodes are set: expected one of them");
    }
    return {};
  }

  std::string_view pod_text() const { return pod_text_; }

 private:
  bool ReadPod() {
    if (scanner_.Peek() != '{') return NullOrWrong("Pod");
    pod_text_ = scanner_.TakeValue();
    return !pod_text_.empty() || Broken();
  }

  bool ReadNames() {
    if (scanner_.Peek() != '[') return NullOrWrong("NodeNames");
    saw_names_ = true;
    return Elements([this] {
      bool plain = false;
      const std::string_view name = scanner_.TakeString(plain);
      if (name.empty()) {
        return scanner_.Peek() == '"'
                   ? Broken()
                   : Wrong(fmt::format("NodeNames[{}] is not a string", args_.size()));
      }
      return AddName(name, plain);
    });
  }

  bool ReadNodes() {
    if (scanner_.Peek() != '{') return NullOrWrong("Nodes");
    args_.whole_nodes = true;
    return Members("Nodes", [this](std::string_view key) {
      if (key != "items") return Skip();
      if (scanner_.Peek() != '[') return NullOrWrong("Nodes.items");
      return Elements([this] { return ReadNode(); });
    });
  }

  // Reads metadata.name only.
  bool ReadNode() {
    const size_t index = args_.size();
    if (scanner_.Peek() != '{')
      return Wrong(fmt::format("Nodes.items[{}] is not an object", index));
    const size_t start = scanner_.position();
    const bool read = Members("Nodes.items", [this](std::string_view key) {
      if (key != "metadata" || scanner_.Peek() != '{') return Skip();
      return Members("Nodes.items.metadata", [this](std::string_view inner) {
        if (inner != "name" || scanner_.Peek() != '"') return Skip();
        bool plain = false;
        const std::string_view name = scanner_.TakeString(plain);
        return name.empty() ? Broken() : AddName(name, plain);
      });
    });
    if (!read) return false;
    if (args_.size() != index + 1)
      return Wrong(fmt::format("Nodes.items[{}].metadata.name is missing", index));
    args_.node_objects.push_back(scanner_.Text(start));
    return true;
  }

  bool AddName(std::string_view spelled, bool plain) {
    if (!plain) {
      const Result<Document> document = Document::Parse(spelled);
      if (!document) return Wrong(document.error().message);
      args_.escaped.emplace(args_.spelled_names.size(), std::string(document->root().text()));
    }
    args_.spelled_names.push_back(spelled);
    return true;
  }

  // Reads an object: visit(key) must take the value. No expected key contains escapes.
  template <class Visit>
  bool Members(std::string_view path, Visit visit) {
    if (!scanner_.Take('{')) {
      return Wrong(path.empty() && scanner_.Peek() != '\0' && IsValueStart(scanner_.Peek())
                       ? "the body is not a JSON object"
                       : NotJson());
    }
    if (scanner_.Take('}')) return true;
    do {
      bool plain = false;
      const std::string_view key = scanner_.TakeString(plain);
      if (key.empty() || !scanner_.Take(':')) return Broken();
      if (!visit(plain ? key.substr(1, key.size() - 2) : std::string_view())) return false;
    } while (scanner_.Take(','));
    return scanner_.Take('}') || Broken();
  }

  template <class Visit>
  bool Elements(Visit visit) {
    scanner_.Take('[');
    if (scanner_.Take(']')) return true;
    do {
      if (!visit()) return false;
    } while (scanner_.Take(','));
    return scanner_.Take(']') || Broken();
  }

  bool Skip() { return !scanner_.TakeValue().empty() || Broken(); }
  // Go writes null for an unset field.
  bool NullOrWrong(std::string_view field) {
    return scanner_.TakeValue() == "null" || Wrong(fmt::format("{} is of a wrong type", field));
  }

  static bool IsValueStart(char c) {
    return c == '[' || c == '"' || c == '-' || (c >= '0' && c <= '9') || c == 't' || c == 'f' ||
           c == 'n';
  }
  std::string NotJson() const { return fmt::format("not JSON at byte {}", scanner_.position()); }
  bool Broken() { return Wrong(NotJson()); }
  bool Wrong(std::string what) {
    if (problem_.empty()) problem_ = std::move(what);
    return false;
  }

  Scanner scanner_;
  ExtenderArgs& args_;
  std::string_view pod_text_;
  std::string problem_;
  bool saw_names_ = false;
};

}  // namespace

Result<ExtenderArgs> ReadExtenderArgs(std::string_view body, const ObjectReader& reader) {
  ExtenderArgs args;
  ArgsReader args_reader(body, args);
  if (const Result<> read = args_reader.Read(); !read) return Fail(read.error());
  Result<Pod> pod = reader.ReadPod(args_reader.pod_text(), PodUse::kIncoming);
  if (!pod) return Fail(pod.error().code, "Pod." + pod.error().message);
  args.pod = std::move(*pod);
  args.pod_text = args_reader.pod_text();
  return args;
}

}  // namespace synergy::wire
