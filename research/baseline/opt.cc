#include "research/baseline/opt.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "research/baseline/arrangement.h"
#include "research/baseline/tune.h"
#include "solver/solve.h"

namespace synergy {
namespace {

// Plans whose totals differ by less count as equal.
constexpr double kEqualTotals = 1e-9;

constexpr size_t kMaxNodeAnswers = 10'000;

// Returns the server with which the others are compared.
Server TypicalOf(std::span<const Server> servers) {
  const auto most = std::max_element(
      servers.begin(), servers.end(),
      [](const Server& a, const Server& b) { return a.capacity.gpus < b.capacity.gpus; });
  return most == servers.end() ? Server{} : *most;
}

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Returns as one server the servers of the typical kind that a job with this many GPUs needs.
Server ServersFor(const Server& typical, Gpus gpus, int64_t& count) {
  count = CeilDiv(gpus.count(), std::max<int64_t>(typical.capacity.gpus.count(), 1));
  return {{typical.capacity.gpus * count, typical.capacity.cpu * count,
           typical.capacity.memory * count}};
}

std::vector<DivisionChoice> ChoicesOf(const JobProfile& profile, const Server& typical,
                                      MilliCpu cpu_step) {
  int64_t count = 1;
  const Server servers = ServersFor(typical, profile.gpus(), count);
  return DivisionChoices(profile, FairShareOf(servers, profile.gpus()), servers.capacity,
                         cpu_step * count);
}

// Jobs with the same profile.
struct Group {
  std::span<const DivisionChoice> choices;
  std::vector<size_t> members;  // positions in `runnable`
  size_t first_variable = 0;
};

// Returns the program. Its variables are how many jobs of each group get each of the group's
// choices.
Program ProgramOf(std::span<const Group> groups, std::span<const Server> servers,
                  const Server& typical) {
  // The unit of CPU and memory is one GPU's share of the typical server, so that values are near 1.
  const ResourceVector unit = FairShareOf(typical, Gpus(1));
  const auto in_units = [](auto amount, auto one) {
    return static_cast<double>(amount.count()) /
           static_cast<double>(std::max<int64_t>(one.count(), 1));
  };
  Row cpu{.upper = 0};
  Row memory{.upper = 0};
  for (const Server& server : servers) {
    cpu.upper += in_units(server.capacity.cpu, unit.cpu);
    memory.upper += in_units(server.capacity.memory, unit.memory);
  }
  Program program{.sense = Sense::kMaximize};
  for (const Group& group : groups) {
    const auto members = static_cast<double>(group.members.size());
    Row all{.lower = members, .upper = members};
    for (const DivisionChoice& choice : group.choices) {
      const size_t variable = program.variables.size();
      program.variables.push_back(
          {.lower = 0, .upper = members, .objective = choice.value, .integer = true});
      all.terms.push_back({variable, 1});
      cpu.terms.push_back({variable, in_units(choice.cpu, unit.cpu)});
      memory.terms.push_back({variable, in_units(choice.memory, unit.memory)});
    }
    program.rows.push_back(std::move(all));
  }
  program.rows.push_back(std::move(cpu));
  program.rows.push_back(std::move(memory));
  return program;
}

ResourceVector AmountOf(const DivisionChoice& choice, Gpus gpus) {
  return {gpus, choice.cpu, choice.memory};
}

// Returns the amounts that the job holds on all its servers.
ResourceVector HeldBy(const Job& job) {
  ResourceVector held;
  for (const Share& share : job.holds) held += share.amount;
  return held;
}

// Distributes a group's choices over its members. A job that already holds one of them keeps it.
// The others get the rest in order, best first.
void Deal(const Group& group, std::span<const double> counts, std::span<const Job> jobs,
          std::span<const JobIndex> runnable, std::vector<DivisionChoice>& chosen) {
  std::vector<int64_t> left;
  std::vector<size_t> best_first;
  for (size_t at = 0; at < group.choices.size(); ++at) {
    left.push_back(std::llround(counts[group.first_variable + at]));
    best_first.push_back(at);
  }
  std::stable_sort(best_first.begin(), best_first.end(), [&](size_t a, size_t b) {
    return group.choices[a].value > group.choices[b].value;
  });
  std::vector<size_t> others;
  for (const size_t member : group.members) {
    const Job& job = jobs[runnable[member]];
    const ResourceVector held = HeldBy(job);
    size_t at = 0;
    while (at < left.size() && (left[at] == 0 || AmountOf(group.choices[at], job.gpus) != held)) {
      ++at;
    }
    if (at == left.size()) {
      others.push_back(member);
      continue;
    }
    --left[at];
    chosen[member] = group.choices[at];
  }
  auto next = best_first.begin();
  for (const size_t member : others) {
    while (left[*next] == 0) ++next;
    --left[*next];
    chosen[member] = group.choices[*next];
  }
}

// Everything on which the program depends, in the order of its rows.
using Question = std::vector<std::pair<const JobProfile*, size_t>>;

struct Answer {
  std::vector<double> counts;
  double value = 0;
  double bound = 0;
};

std::optional<Answer> SolveFor(std::span<const Group> groups, std::span<const Server> servers,
                               const Server& typical, const OptOptions& options) {
  const auto solution =
      Solve(ProgramOf(groups, servers, typical),
            {.time = options.time, .nodes = options.nodes, .relative_gap = options.relative_gap});
  if (!solution || solution->values.empty()) return std::nullopt;
  return Answer{solution->values, solution->objective,
                std::max(solution->bound, solution->objective)};
}

// Chooses for all jobs, and caches the solver's answers by profiles and numbers of jobs.
class Chooser {
 public:
  explicit Chooser(const OptOptions& options) : options_(options) {}

  std::optional<OneMachine> Choose(std::span<const Server> servers, std::span<const Job> jobs,
                                   std::span<const JobIndex> runnable) {
    if (runnable.empty()) return OneMachine{};
    Remember(servers);
    const std::vector<Group> groups = GroupsOf(jobs, runnable);
    const Answer* const answer = Ask(groups, jobs, runnable);
    if (answer == nullptr) return std::nullopt;
    OneMachine machine{std::vector<DivisionChoice>(runnable.size()), answer->value, answer->bound};
    for (const Group& group : groups) Deal(group, answer->counts, jobs, runnable, machine.chosen);
    return machine;
  }

 private:
  // The cached answers are valid only for these servers.
  void Remember(std::span<const Server> servers) {
    if (std::equal(servers.begin(), servers.end(), servers_.begin(), servers_.end())) return;
    servers_.assign(servers.begin(), servers.end());
    typical_ = TypicalOf(servers_);
    choices_.clear();
    answers_.clear();
  }

  // Returns the groups in an order that hardly changes as jobs arrive and end, so that cached
  // answers can be used again.
  std::vector<Group> GroupsOf(std::span<const Job> jobs, std::span<const JobIndex> runnable) {
    std::vector<Group> groups;
    std::map<const JobProfile*, size_t> numbers;
    for (size_t at = 0; at < runnable.size(); ++at) {
      const JobProfile* const profile = jobs[runnable[at]].profile;
      const auto [number, is_new] = numbers.try_emplace(profile, groups.size());
      if (is_new) groups.push_back({ChoicesOf(profile), {}, 0});
      groups[number->second].members.push_back(at);
    }
    const auto key = [&](const Group& group) {
      const Job& job = jobs[runnable[group.members.front()]];
      return std::tuple(job.gpus, job.demand.cpu, job.demand.memory, job.profile->Best());
    };
    std::stable_sort(groups.begin(), groups.end(),
                     [&](const Group& a, const Group& b) { return key(a) < key(b); });
    size_t first_variable = 0;
    for (Group& group : groups) {
      group.first_variable = first_variable;
      first_variable += group.choices.size();
    }
    return groups;
  }

  std::span<const DivisionChoice> ChoicesOf(const JobProfile* profile) {
    auto found = choices_.find(profile);
    if (found == choices_.end()) {
      found = choices_.emplace(profile, synergy::ChoicesOf(*profile, typical_, options_.cpu_step))
                  .first;
    }
    return found->second;
  }

  // Returns null if the solver found no answer. The answer is valid until the next call.
  const Answer* Ask(std::span<const Group> groups, std::span<const Job> jobs,
                    std::span<const JobIndex> runnable) {
    Question question;
    for (const Group& group : groups) {
      question.emplace_back(jobs[runnable[group.members.front()]].profile, group.members.size());
    }
    auto found = answers_.find(question);
    if (found == answers_.end()) {
      const auto answer = SolveFor(groups, servers_, typical_, options_);
      if (!answer) return nullptr;
      if (answers_.size() >= kMaxNodeAnswers) answers_.clear();
      found = answers_.emplace(std::move(question), *answer).first;
    }
    return &found->second;
  }

  OptOptions options_;
  std::vector<Server> servers_;
  Server typical_;
  std::map<const JobProfile*, std::vector<DivisionChoice>> choices_;
  std::map<Question, Answer> answers_;
};

// Places the runnable jobs on servers, the largest choices first.
Plan Place(std::span<const Server> servers, std::span<const Job> jobs,
           std::span<const JobIndex> runnable, std::span<const DivisionChoice> chosen,
           Divider& divider) {
  std::vector<ResourceVector> wanted(jobs.size());
  for (size_t at = 0; at < runnable.size(); ++at) {
    wanted[runnable[at]] = AmountOf(chosen[at], jobs[runnable[at]].gpus);
  }
  std::vector<JobIndex> turns(runnable.begin(), runnable.end());
  std::stable_sort(turns.begin(), turns.end(), [&](JobIndex a, JobIndex b) {
    const auto key = [&](JobIndex job) {
      return std::tie(wanted[job].gpus, wanted[job].cpu, wanted[job].memory);
    };
    return key(a) > key(b);
  });
  return Arrange(servers, jobs, turns, wanted, divider);
}

double TotalOf(std::span<const Server> servers, std::span<const Job> jobs, const Plan& plan) {
  const std::vector<double> speeds = Speeds(servers, jobs, plan, Enforcement::kStrict);
  double total = 0;
  for (size_t job = 0; job < jobs.size(); ++job) {
    total += speeds[job] * static_cast<double>(jobs[job].gpus.count());
  }
  return total;
}

class Opt final : public Allocator {
 public:
  explicit Opt(const OptOptions& options)
      : chooser_(options),
        divider_(options.cpu_step),
        published_(MakeTune(TuneVariant::kPublished)),
        ours_(MakeTune(TuneVariant::kOurs)) {}

  Plan Allocate(std::span<const Server> servers, std::span<const Job> jobs,
                std::span<const JobIndex> order) override {
    Plan published = published_->Allocate(servers, jobs, order);
    const std::vector<JobIndex> runnable = Runnable(servers, jobs, order);
    const std::optional<OneMachine> machine = chooser_.Choose(servers, jobs, runnable);
    if (!machine) {
      published.fell_back = true;
      return published;
    }
    Plan plan = Place(servers, jobs, runnable, machine->chosen, divider_);
    double total = TotalOf(servers, jobs, plan);
    Plan ours = ours_->Allocate(servers, jobs, order);
    for (Plan* const other : {&ours, &published}) {
      const double others = TotalOf(servers, jobs, *other);
      if (others <= total + kEqualTotals) continue;
      plan = std::move(*other);
      total = others;
    }
    plan.gap = std::max(machine->bound - total, 0.0) / std::max(machine->bound, kEqualTotals);
    return plan;
  }

 private:
  Chooser chooser_;
  Divider divider_;
  std::unique_ptr<Allocator> published_;
  std::unique_ptr<Allocator> ours_;
};

}  // namespace

std::optional<OneMachine> ChooseOnOneMachine(std::span<const Server> servers,
                                             std::span<const Job> jobs,
                                             std::span<const JobIndex> runnable,
                                             const OptOptions& options) {
  return Chooser(options).Choose(servers, jobs, runnable);
}

std::unique_ptr<Allocator> MakeOpt(const OptOptions& options) {
  return std::make_unique<Opt>(options);
}

}  // namespace synergy
