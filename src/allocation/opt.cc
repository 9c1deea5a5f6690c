#include "allocation/opt.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "allocation/best_fit.h"
#include "allocation/packing.h"
#include "allocation/tune.h"
#include "solver/solve.h"

namespace synergy {
namespace {

// Plans whose totals differ by less are equal.
constexpr double kEqual = 1e-9;

constexpr size_t kMaxAnswers = 10'000;

// The one that others are measured by.
Server TypicalOf(std::span<const Server> servers) {
  const auto most = std::max_element(
      servers.begin(), servers.end(),
      [](const Server& a, const Server& b) { return a.capacity.gpus < b.capacity.gpus; });
  return most == servers.end() ? Server{} : *most;
}

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

// As many of the typical server as a job with so many GPUs needs, as one.
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

// How many jobs of each group get each of its choices.
Program ProgramOf(std::span<const Group> groups, std::span<const Server> servers,
                  const Server& typical) {
  // A GPU's part of the typical server is the unit of CPU and memory: figures near 1.
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

// What the job holds now, all its servers together.
ResourceVector HeldBy(const Job& job) {
  ResourceVector held;
  for (const Share& share : job.holds) held += share.amount;
  return held;
}

// Deals a group's choices to its members: who holds one of them now keeps it, the rest goes in
// order, the best first.
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

// What the program depends on, in the order in which it is written down.
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

// The choices of all jobs, remembering what the solver said for so many jobs of such profiles.
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
  // What was worked out is for these servers.
  void Remember(std::span<const Server> servers) {
    if (std::equal(servers.begin(), servers.end(), servers_.begin(), servers_.end())) return;
    servers_.assign(servers.begin(), servers.end());
    typical_ = TypicalOf(servers_);
    choices_.clear();
    answers_.clear();
  }

  // In an order that hardly changes as jobs come and go, so that questions come again.
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

  // Null: the solver found nothing. Good until the next question.
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
      if (answers_.size() >= kMaxAnswers) answers_.clear();
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

// `part` GPUs' worth of what is meant for `whole` GPUs.
ResourceVector PartOf(const ResourceVector& amount, Gpus part, Gpus whole) {
  if (part == whole) return amount;
  const auto scale = [&](int64_t value) { return value * part.count() / whole.count(); };
  return {part, MilliCpu(scale(amount.cpu.count())), Bytes(scale(amount.memory.count()))};
}

ResourceVector Least(const ResourceVector& a, const ResourceVector& b) {
  return {a.gpus, std::min(a.cpu, b.cpu), std::min(a.memory, b.memory)};
}

ResourceVector Most(const ResourceVector& a, const ResourceVector& b) {
  return {a.gpus, std::max(a.cpu, b.cpu), std::max(a.memory, b.memory)};
}

ResourceVector LargestOf(std::span<const Server> servers) {
  ResourceVector largest{Gpus(1), MilliCpu(1), Bytes(1)};
  for (const Server& server : servers) {
    largest = Most(largest, server.capacity);
    largest.gpus = std::max(largest.gpus, server.capacity.gpus);
  }
  return largest;
}

// Puts the runnable jobs on servers. While it does, a server may be given more CPU and memory than
// it has; the division that comes last sees to that.
class Placement {
 public:
  Placement(Divider& divider, std::span<const Server> servers, std::span<const Job> jobs)
      : divider_(divider),
        servers_(servers),
        jobs_(jobs),
        packing_(servers),
        largest_(LargestOf(servers)),
        occupants_(servers.size()),
        wanted_(jobs.size()) {
    plan_.shares.resize(jobs.size());
    plan_.reasons.assign(jobs.size(), Unplaced::kNoGpus);
  }

  Plan Run(std::span<const JobIndex> runnable, std::span<const DivisionChoice> chosen) {
    std::vector<JobIndex> arriving;
    reserve_ = {Gpus(1), MilliCpu(std::numeric_limits<int64_t>::max()),
                Bytes(std::numeric_limits<int64_t>::max())};
    for (size_t at = 0; at < runnable.size(); ++at) {
      const JobIndex job = runnable[at];
      const Gpus gpus = jobs_[job].gpus;
      wanted_[job] = {gpus, chosen[at].cpu, chosen[at].memory};
      reserve_ = Least(reserve_, PartOf(wanted_[job], Gpus(1), gpus));
    }
    for (const JobIndex job : runnable) {
      if (!Keep(job)) arriving.push_back(job);
    }
    std::stable_sort(arriving.begin(), arriving.end(), [&](JobIndex a, JobIndex b) {
      const auto key = [&](JobIndex job) {
        return std::tie(wanted_[job].gpus, wanted_[job].cpu, wanted_[job].memory);
      };
      return key(a) > key(b);
    });
    for (const JobIndex job : arriving) Place(job, jobs_[job].gpus);
    for (const JobIndex job : runnable) {
      if (plan_.shares[job].size() > 1) Shrink(job);
    }
    for (ServerIndex server = 0; server < servers_.size(); ++server) Divide(server);
    for (const JobIndex job : runnable) {
      if (plan_.shares[job].size() > 1) Grow(job);
    }
    return std::move(plan_);
  }

 private:
  // The job's part of what it is to have.
  ResourceVector Part(JobIndex job, Gpus gpus) const {
    return PartOf(wanted_[job], gpus, jobs_[job].gpus);
  }

  void Hold(JobIndex job, ServerIndex server, Gpus gpus) {
    const ResourceVector amount = Part(job, gpus);
    packing_.Take(server, amount);
    plan_.shares[job].push_back({server, amount});
    plan_.reasons[job] = Unplaced::kPlaced;
    occupants_[server].push_back(job);
  }

  Share& ShareOn(JobIndex job, ServerIndex server) {
    return *std::find_if(plan_.shares[job].begin(), plan_.shares[job].end(),
                         [server](const Share& share) { return share.server == server; });
  }

  void Amend(Share& share, const ResourceVector& amount) {
    if (amount == share.amount) return;
    packing_.Give(share.server, share.amount);
    packing_.Take(share.server, amount);
    share.amount = amount;
  }

  // A running job stays where it is. False: a server of its is gone.
  bool Keep(JobIndex job) {
    const std::vector<Share>& holds = jobs_[job].holds;
    const bool stays = std::all_of(holds.begin(), holds.end(), [&](const Share& share) {
      return share.server < servers_.size() &&
             share.amount.gpus <= packing_.free(share.server).gpus;
    });
    if (holds.empty() || !stays) return false;
    for (const Share& share : holds) Hold(job, share.server, share.amount.gpus);
    return true;
  }

  // The runnable jobs leave GPUs enough.
  void Place(JobIndex job, Gpus gpus) {
    const BestFitStep step(Part(job, gpus), reserve_, largest_);
    const auto server = packing_.Best(gpus, [&](const Server&, const ResourceVector& free) {
      return std::optional(step.Rank(free));
    });
    if (server) {
      Hold(job, *server, gpus);
      return;
    }
    // The fewest servers: the emptiest, until one holds the rest.
    const auto emptiest = packing_.Best(Gpus(1), [](const Server&, const ResourceVector& free) {
      return std::optional(-free.gpus.count());
    });
    if (!emptiest) return;
    const Gpus part = packing_.free(*emptiest).gpus;
    Hold(job, *emptiest, part);
    Place(job, gpus - part);
  }

  // The least that the job may count on there.
  ResourceVector FairAmount(JobIndex job, ServerIndex server, Gpus gpus) const {
    return Least(PartOf(jobs_[job].demand, gpus, jobs_[job].gpus),
                 FairShareOf(servers_[server], gpus));
  }

  // The shares of a job on several servers have to stay alike: it begins with its fair share.
  void Shrink(JobIndex job) {
    for (Share& share : plan_.shares[job]) {
      Amend(share, FairAmount(job, share.server, share.amount.gpus));
    }
  }

  void Divide(ServerIndex server) {
    // In the order of demand, so that equal sets of jobs are one question to the divider.
    std::vector<JobIndex> whole;
    ResourceVector free = servers_[server].capacity;
    for (const JobIndex job : occupants_[server]) {
      if (plan_.shares[job].size() == 1) {
        whole.push_back(job);
      } else {
        free -= ShareOn(job, server).amount;
      }
    }
    std::sort(whole.begin(), whole.end(), [&](JobIndex a, JobIndex b) {
      const auto key = [&](JobIndex job) {
        const ResourceVector& demand = jobs_[job].demand;
        return std::tuple(demand.gpus, demand.cpu, demand.memory, jobs_[job].id);
      };
      return key(a) < key(b);
    });
    profiles_.clear();
    for (const JobIndex job : whole) profiles_.push_back(jobs_[job].profile);
    const Divider::Answer& answer = divider_.Divide(servers_[server], profiles_, free);
    const bool fits = AmountsOf(whole).FitsWithin(free);
    for (size_t at = 0; at < whole.size(); ++at) {
      Share& share = plan_.shares[whole[at]].front();
      if (!answer.amounts.empty()) {
        Amend(share, answer.amounts[at]);
      } else if (!fits) {
        Amend(share, FairAmount(whole[at], server, share.amount.gpus));
      }
    }
  }

  ResourceVector AmountsOf(std::span<const JobIndex> whole) const {
    ResourceVector sum;
    for (const JobIndex job : whole) sum += plan_.shares[job].front().amount;
    return sum;
  }

  // A job on several servers takes what it was meant to have where all of them have it left, or as
  // much as all of them can give alike.
  void Grow(JobIndex index) {
    const Job& job = jobs_[index];
    const ResourceVector most = Most(wanted_[index], job.demand);
    double cpu = static_cast<double>(most.cpu.count());
    double memory = static_cast<double>(most.memory.count());
    for (const Share& share : plan_.shares[index]) {
      const ResourceVector room = packing_.free(share.server) + share.amount;
      const double parts =
          static_cast<double>(job.gpus.count()) / static_cast<double>(share.amount.gpus.count());
      cpu = std::min(cpu, static_cast<double>(room.cpu.count()) * parts);
      memory = std::min(memory, static_cast<double>(room.memory.count()) * parts);
    }
    const ResourceVector whole{job.gpus, MilliCpu(static_cast<int64_t>(cpu)),
                               Bytes(static_cast<int64_t>(memory))};
    for (Share& share : plan_.shares[index]) {
      Amend(share, Most(PartOf(whole, share.amount.gpus, job.gpus), share.amount));
    }
  }

  Divider& divider_;
  std::span<const Server> servers_;
  std::span<const Job> jobs_;
  Packing packing_;
  ResourceVector largest_;
  ResourceVector reserve_;                        // per GPU
  std::vector<std::vector<JobIndex>> occupants_;  // by server
  std::vector<ResourceVector> wanted_;            // by job: its choice
  std::vector<const JobProfile*> profiles_;
  Plan plan_;
};

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
    Plan plan = Placement(divider_, servers, jobs).Run(runnable, machine->chosen);
    double total = TotalOf(servers, jobs, plan);
    Plan ours = ours_->Allocate(servers, jobs, order);
    for (Plan* const other : {&ours, &published}) {
      const double others = TotalOf(servers, jobs, *other);
      if (others <= total + kEqual) continue;
      plan = std::move(*other);
      total = others;
    }
    plan.gap = std::max(machine->bound - total, 0.0) / std::max(machine->bound, kEqual);
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
