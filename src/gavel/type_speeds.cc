#include "gavel/type_speeds.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace synergy {
namespace {

// Cosines that differ by less than this are equal; on a single type all are equal.
constexpr double kSameDistance = 1e-9;

struct Likeness {
  double cosine = 0;
  double scale = 0;  // from the other's unit to the job's own
};

// Returns nullopt if the two have no type in common.
std::optional<Likeness> Compare(const KnownSpeeds& own, const KnownSpeeds& other) {
  double dot = 0;
  double own_square = 0;
  double other_square = 0;
  for (size_t type = 0; type < own.size(); ++type) {
    if (!own[type] || !other[type]) continue;
    dot += *own[type] * *other[type];
    own_square += *own[type] * *own[type];
    other_square += *other[type] * *other[type];
  }
  if (dot <= 0) return std::nullopt;
  return Likeness{dot / std::sqrt(own_square * other_square), dot / other_square};
}

// Scales values to a mean of 1 over the known types; returns nullopt if no value is above 0.
std::optional<Likeness> ToMeanOfOne(const KnownSpeeds& other) {
  double sum = 0;
  double count = 0;
  for (const std::optional<double>& speed : other) {
    if (!speed) continue;
    sum += *speed;
    ++count;
  }
  if (sum <= 0) return std::nullopt;
  return Likeness{1, count / sum};
}

// Returns the estimates by one group for types on which `own` is unknown; nullopt for types that
// the group does not know, either. `is_known`: whether `own` has a speed above 0.
std::vector<std::optional<double>> EstimateBy(const std::vector<KnownSpeeds>& group,
                                              const KnownSpeeds& own, bool is_known) {
  std::vector<std::optional<Likeness>> alike;
  for (const KnownSpeeds& other : group)
    alike.push_back(is_known ? Compare(own, other) : ToMeanOfOne(other));
  std::vector<std::optional<double>> estimates(own.size());
  for (size_t type = 0; type < own.size(); ++type) {
    if (own[type]) continue;
    double nearest = -1;
    for (size_t at = 0; at < group.size(); ++at) {
      if (alike[at] && group[at][type]) nearest = std::max(nearest, alike[at]->cosine);
    }
    double of_nearest = 0;
    double nearest_count = 0;
    double of_all = 0;
    double count = 0;
    for (size_t at = 0; at < group.size(); ++at) {
      if (!alike[at] || !group[at][type]) continue;
      const double estimate = *group[at][type] * alike[at]->scale;
      of_all += estimate;
      ++count;
      if (alike[at]->cosine < nearest - kSameDistance) continue;
      of_nearest += estimate;
      ++nearest_count;
    }
    if (count > 0) estimates[type] = 0.5 * of_nearest / nearest_count + 0.5 * of_all / count;
  }
  return estimates;
}

}  // namespace

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

std::vector<TypeSpeed> EstimateSpeeds(const KnownSpeeds& own,
                                      std::span<const std::vector<KnownSpeeds>> groups) {
  double own_sum = 0;
  double own_count = 0;
  for (const std::optional<double>& speed : own) {
    if (!speed || *speed <= 0) continue;
    own_sum += *speed;
    ++own_count;
  }
  std::vector<std::vector<double>> estimates(own.size());  // by type
  for (const std::vector<KnownSpeeds>& group : groups) {
    const auto of_group = EstimateBy(group, own, own_sum > 0);
    for (size_t type = 0; type < own.size(); ++type) {
      if (of_group[type]) estimates[type].push_back(*of_group[type]);
    }
  }
  const double nothing = own_sum > 0 ? own_sum / own_count : 1;
  std::vector<TypeSpeed> speeds;
  for (size_t type = 0; type < own.size(); ++type) {
    if (own[type]) {
      speeds.push_back({*own[type], false});
    } else {
      speeds.push_back({estimates[type].empty() ? nothing : Median(estimates[type]), true});
    }
  }
  return speeds;
}

}  // namespace synergy
