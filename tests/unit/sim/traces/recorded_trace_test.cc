#include "sim/traces/recorded_trace.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/random.h"

namespace synergy::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Result<RecordedTrace> ReadTrace(std::string_view text) {
  const auto form = RecognizeTrace(text, "some.csv");
  if (!form) return Fail(form.error());
  if (form->form == TraceForm::kIterations || form->form == TraceForm::kJson ||
      form->form == TraceForm::kPaiJobs) {
    return Fail(ErrorCode::kGone, "another form");
  }
  return ReadRecordedTrace(text, "some.csv", *form);
}

std::string ReadingOf(std::string_view text) {
  const auto trace = ReadTrace(text);
  return trace ? trace->Describe() : trace.error().message;
}

// Returns "ID@SUBMITTED:DURATIONxGPUS" for each job.
std::vector<std::string> JobsOf(std::string_view text) {
  const auto trace = ReadTrace(text);
  if (!trace) return {trace.error().message};
  std::vector<std::string> jobs;
  for (const RecordedJob& job : trace->jobs) {
    jobs.push_back(fmt::format("{}@{}:{}x{}", job.id, job.submitted.count(), job.duration.count(),
                               job.gpus.count()));
  }
  return jobs;
}

TEST(PlainTraceTest, ColumnsComeInAnyOrderAndOthersAreIgnored) {
  EXPECT_THAT(JobsOf("job_id,submit_time,duration_s,gpus\n7,1000,60,2\n8,1030,5.5,1\n"),
              ElementsAre("7@0:60x2", "8@30:5.5x1"));
  EXPECT_THAT(JobsOf("note,GPUS, duration_s ,user,submit_time,job_id,end_time\n"
                     "\"a, \"\"b\"\"\",4,60,ann,2024-05-01T10:00:00+02:00,x,whenever\n"
                     ",1,30,bob,2024-05-01T08:00:10Z,y,\n"),
              ElementsAre("x@0:60x4", "y@10:30x1"));
}

TEST(PlainTraceTest, PrioritiesAreRead) {
  const auto trace =
      ReadTrace("job_id,submit_time,duration_s,gpus,priority\n7,0,6,2,5\n8,1,5,1,\n");
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->jobs[0].priority, 5);
  EXPECT_EQ(trace->jobs[1].priority, 0);
  EXPECT_EQ(ReadingOf("job_id,submit_time,duration_s,gpus,priority\n7,0,6,2,high\n"),
            "some.csv:2:9: priority is \"high\": write a whole number, 0 or more");
}

TEST(PlainTraceTest, RowsComeInAnyOrderAndTheLastOfAnIdCounts) {
  EXPECT_THAT(JobsOf("job_id,submit_time,duration_s,gpus\nb,500,2,1\na,400,1,1\nb,450,3,8\n"),
              ElementsAre("a@0:1x1", "b@50:3x8"));
  EXPECT_EQ(ReadingOf("job_id,submit_time,duration_s,gpus\nb,500,2,1\na,400,1,1\nb,450,3,8\n"),
            "read as jobs with durations: 2 jobs, left out: 1 repeated ids");
}

TEST(PlainTraceTest, IterationsBesideDurationsAreIgnored) {
  EXPECT_THAT(JobsOf("job_id,submit_time,duration_s,gpus,total_iterations\n1,0,60,2,9\n"),
              ElementsAre("1@0:60x2"));
}

TEST(PlainTraceTest, TimesAndDurationsThatCannotBeRightAreNamedWithTheirLine) {
  EXPECT_EQ(ReadingOf("job_id,submit_time,duration_s,gpus\n1,0,10,1\n2,100,10,1\n"
                      "3,2024-05-01T10:00:00Z,10,2\n"),
            "some.csv:4: job 3 was submitted 19844 days after the job in the middle: write all "
            "times in one form, and correct wrong ones");
  EXPECT_EQ(ReadingOf("job_id,submit_time,duration_s,gpus\n1,0,10,1\n2,0,400000000,1\n"),
            "some.csv:3: job 2 ran for 4630 days: correct that");
}

TEST(PlainTraceTest, SpreadsheetsAreRead) {
  EXPECT_THAT(JobsOf("\xEF\xBB\xBFjob_id;submit_time;duration_s;gpus\r\n\r\n1;0;60;2\r\n  \r\n"
                     "\"2\";\"10\";\"60\";\"2.0\""),
              ElementsAre("1@0:60x2", "2@10:60x2"));
  EXPECT_THAT(JobsOf("job_id\tsubmit_time\tduration_s\tgpus\n1\t0\t60\t2\n"),
              ElementsAre("1@0:60x2"));
}

TEST(PlainTraceTest, JobsWithoutWorkAreLeftOutAndCounted) {
  EXPECT_EQ(ReadingOf("job_id,submit_time,duration_s,gpus\n1,0,60,1\n2,0,0,1\n3,0,-5,1\n4,0,60,0\n"
                      "5,0,60,\n6,0,,1\n7,None,60,1\n8,0,60,0.5\n"),
            "read as jobs with durations: 2 jobs, left out: 2 with a duration of 0 or less, 2 "
            "without GPUs, 1 without a duration, 1 without a time of submission; 1 with a fraction "
            "of a GPU, rounded up");
}

TEST(PlainTraceTest, TraceWithoutAnyJobGivesTheReasonAndIsNotInvalid) {
  const auto none = ReadTrace("job_id,submit_time,duration_s,gpus\n1,0,60,0\n");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(none.error().message,
            "some.csv: no job to simulate: read as jobs with durations: 0 jobs, left out: 1 "
            "without GPUs");
}

TEST(PlainTraceTest, AMalformedFieldIsNamedWithItsPlaceItsValueAndTheCure) {
  EXPECT_EQ(ReadingOf("job_id,submit_time,duration_s,gpus\n1,0,60,1\n2,0,60,many\n"),
            "some.csv:3:8: gpus is \"many\": write a number, at most 1e+06");
  EXPECT_EQ(ReadingOf("job_id,submit_time,duration_s,gpus\n1,soon,60,1\n"),
            "some.csv:2:3: submit_time is \"soon\": write seconds, or a time as "
            "2024-05-01T10:00:00Z");
  EXPECT_EQ(ReadingOf("job_id,submit_time,duration_s,gpus\n1,0,60,1\n2,0,60\n"),
            "some.csv:3: 3 fields, but there are 4 columns: write a field for each column, and "
            "quote separators");
  EXPECT_THAT(ReadingOf("job_id,submit_time,duration_s\n1,0,60\n"),
              HasSubstr("no column \"gpus\": add the job's GPUs; existing columns: job_id"));
  EXPECT_THAT(ReadingOf("job_id,submit_time,duration_s,gpus\n\"1,0,60,1\n"),
              HasSubstr("some.csv:2:1: the quote is not closed"));
}

constexpr std::string_view kSlurm =
    "JobID|JobName|Partition|Submit|Start|End|ElapsedRaw|State|ReqTRES|AllocTRES\n"
    "100|train "
    "\"x\"|gpu|2024-05-01T10:00:00|2024-05-01T10:05:00|2024-05-01T11:05:00|3600|COMPLETED|"
    "billing=8,cpu=8,gres/gpu=2,mem=64G,node=1|"
    "billing=8,cpu=8,gres/gpu:a100=2,gres/gpu=2,mem=64G,node=1\n"
    "100.batch|batch||2024-05-01T10:05:00|2024-05-01T10:05:00|2024-05-01T11:05:00|3600|COMPLETED||"
    "cpu=8,gres/gpu=2,mem=64G,node=1\n"
    "100.0|python||2024-05-01T10:05:00|2024-05-01T10:05:00|2024-05-01T11:05:00|3600|COMPLETED||"
    "cpu=8,gres/gpu=2,mem=64G,node=1\n"
    "101_4|array|gpu|2024-05-01T10:00:10|2024-05-01T10:05:00|2024-05-01T10:06:00||CANCELLED by "
    "1000|"
    "cpu=8,gres/gpu:a100=3,node=1|cpu=8,gres/gpu:a100=3,gres/gpu:v100=1,node=1\n"
    "101_[5-9%2]|array|gpu|2024-05-01T10:00:10|Unknown|Unknown|0|PENDING|cpu=8,gres/gpu=1,node=1|\n"
    "102|cpu|cpu|2024-05-01T10:00:20|2024-05-01T10:05:00|2024-05-01T11:05:00|3600|FAILED|"
    "cpu=8,mem=64G,node=1|cpu=8,mem=64G,node=1\n"
    "103|gone|gpu|2024-05-01T10:00:20|None|2024-05-01T10:05:00|0|CANCELLED by 0|"
    "cpu=8,gres/gpu=4,node=1|\n"
    "104|now|gpu|2024-05-01T10:00:30|2024-05-01T10:05:00|Unknown|120|RUNNING|"
    "cpu=8,gres/gpu=4,node=1|cpu=8,gres/gpu=4,node=1\n"
    "105+0|het|gpu|2024-05-01T10:01:00|2024-05-01T10:05:00|2024-05-01T10:05:50|50|TIMEOUT|"
    "cpu=8,node=1|cpu=8,node=1\n"
    "105+1|het|gpu|2024-05-01T10:01:00|2024-05-01T10:05:00|2024-05-01T10:05:50|50|TIMEOUT|"
    "cpu=8,gres/gpu=8,node=1|cpu=8,gres/gpu=8,node=1\n"
    "105+0.batch|batch||2024-05-01T10:05:00|2024-05-01T10:05:00|2024-05-01T10:05:50|50|TIMEOUT||"
    "cpu=8,node=1\n";

TEST(SlurmTraceTest, JobsAreReadAndTheRestIsCounted) {
  EXPECT_THAT(JobsOf(kSlurm),
              ElementsAre("100@0:3600x2", "101_4@10:60x4", "104@30:120x4", "105@60:50x8"));
  EXPECT_EQ(ReadingOf(kSlurm),
            "read as Slurm sacct: 4 jobs, left out: 3 steps, 1 pending, 1 without GPUs, 1 never "
            "ran; 1 still running, counted with the time so far, 1 heterogeneous");
}

// Leaves these columns out of a text whose columns are separated by |.
std::string Without(std::string_view text, const std::vector<size_t>& columns) {
  std::string left;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(line.size() + 1);
    const char* before = "";
    for (size_t at = 0;; ++at) {
      const std::string_view field = line.substr(0, line.find('|'));
      if (std::find(columns.begin(), columns.end(), at) == columns.end()) {
        left += before;
        left += field;
        before = "|";
      }
      if (field.size() == line.size()) break;
      line.remove_prefix(field.size() + 1);
    }
    left += '\n';
  }
  return left;
}

TEST(SlurmTraceTest, AnySufficientSubsetOfColumnsGivesTheSameJobs) {
  const auto all = JobsOf(kSlurm);
  EXPECT_EQ(JobsOf(Without(kSlurm, {1, 2})), all);
  EXPECT_EQ(JobsOf(Without(kSlurm, {1, 7})), all);
}

TEST(SlurmTraceTest, DurationWithoutElapsedIsFromStartToEnd) {
  EXPECT_THAT(JobsOf(Without(kSlurm, {6})),
              ElementsAre("100@0:3600x2", "101_4@10:60x4", "104@30:3600x4", "105@60:50x8"));
}

// Without a column Elapsed, the latest time in the file is known.
TEST(SlurmTraceTest, ARunningJobCountsUpToTheLatestTime) {
  EXPECT_EQ(ReadingOf(Without(kSlurm, {6})),
            "read as Slurm sacct: 4 jobs, left out: 3 steps, 1 pending, 1 without GPUs, 1 never "
            "ran; 1 still running, counted with the time so far, 1 heterogeneous");
}

TEST(SlurmTraceTest, WithoutIdsStepsHaveNoPartition) {
  EXPECT_THAT(ReadingOf(Without(kSlurm, {0})), HasSubstr("left out: 3 steps, 1 pending"));
}

TEST(SlurmTraceTest, WithoutSubmitJobsArriveAtTheirStart) {
  EXPECT_THAT(JobsOf("Start|End|AllocTRES|\n2024-05-01T10:00:00|2024-05-01T10:01:00|gres/gpu=1|\n"
                     "2024-05-01T10:00:30|2024-05-01T10:01:00|gres/gpu=1|\n"),
              ElementsAre("@0:60x1", "@30:30x1"));
}

TEST(SlurmTraceTest, OldSlurmRequestsGpusOfANodeAndAllocatesThoseOfAll) {
  EXPECT_THAT(JobsOf("JobID|Submit|Elapsed|ReqGRES|NNodes\n1|100|1-00:00:00|gpu:tesla:4(S:0)|2\n"
                     "2|160|10:00|gres:gpu:1|1\n"),
              ElementsAre("1@0:86400x8", "2@60:600x1"));
  EXPECT_THAT(JobsOf("JobID|Submit|Elapsed|ReqGRES|AllocGRES|NNodes\n"
                     "1|100|10:00|gpu:4|gpu:8|2\n2|160|10:00|gpu:2||3\n3|200|10:00||gpu:5|2\n"),
              ElementsAre("1@0:600x8", "2@60:600x6", "3@100:600x5"));
}

TEST(SlurmTraceTest, ErrorsNameMissingAndMalformedFields) {
  EXPECT_EQ(ReadingOf("JobID|Submit|ElapsedRaw\n1|100|60\n"),
            "some.csv:1: no column has the jobs' GPUs: add AllocTRES or ReqTRES to sacct --format");
  EXPECT_EQ(ReadingOf("JobID|Submit|ElapsedRaw|AllocTRES\n1|100|60|gres/gpu=x\n"),
            "some.csv:2:10: AllocTRES is \"gres/gpu=x\": write it as cpu=8,gres/gpu=2,node=1");
  EXPECT_THAT(
      ReadingOf("JobID|JobName|Submit|ElapsedRaw|AllocTRES\n1|a|b|100|60|gres/gpu=1\n"),
      HasSubstr("some.csv:2: 6 fields, but there are 5 columns: names of jobs may contain"));
  EXPECT_THAT(ReadingOf("JobID    Submit   State\n-------- -------- -----\n1        x     y\n"),
              HasSubstr("sacct -P"));
}

TEST(HeliosTraceTest, HeliosAndAcmeAreRead) {
  EXPECT_EQ(
      ReadingOf("job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,"
                "end_time,duration,queue\n"
                "1,u,vc,8,64,1,COMPLETED,2020-04-01 00:00:00,2020-04-01 00:01:00,2020-04-01 "
                "01:01:00,3600,60\n"
                "2,u,vc,0,4,1,COMPLETED,2020-04-01 00:00:00,2020-04-01 00:01:00,2020-04-01 "
                "01:01:00,3600,60\n"
                "3,u,vc,1,4,1,CANCELLED,2020-04-01 00:00:00,None,2020-04-01 01:01:00,0,3660\n"),
      "read as Helios' jobs: 1 job, left out: 1 without GPUs, 1 never ran");
  EXPECT_THAT(JobsOf("queue,gpu_num,type,submit_time,end_time,start_time\n"
                     "0,16,Pretrain,2023-03-01 00:00:00+08:00,2023-03-01 02:00:00+08:00,2023-03-01 "
                     "01:00:00+08:00\n"
                     "0,1,Eval,2023-02-28 16:00:10+00:00,2023-02-28 16:01:00+00:00,2023-02-28 "
                     "16:00:20+00:00\n"),
              ElementsAre("@0:3600x16", "@10:40x1"));
}

TEST(HeliosTraceTest, AcmesTimeInTheQueueIsNotWork) {
  EXPECT_THAT(JobsOf("job_id,gpu_num,type,state,submit_time,start_time,end_time,duration,queue\n"
                     "d,64,Other,FAILED,2023-05-17 11:00:58+00:00,2023-05-17 11:01:08+00:00,"
                     "2023-05-17 11:01:16+00:00,18,10.0\n"),
              ElementsAre("d@0:8x64"));
}

TEST(SlurmTraceTest, TheRowOfAJobThatWasSubmittedLastCounts) {
  const std::string head = "JobID|Submit|Start|End|ElapsedRaw|AllocTRES\n";
  const std::string first =
      "1|2024-05-01T10:00:00|2024-05-01T10:00:00|2024-05-01T10:10:00|600|"
      "gres/gpu=2\n";
  const std::string again =
      "1|2024-05-01T10:12:00|2024-05-01T10:15:00|2024-05-01T10:20:00|300|"
      "gres/gpu=4\n";
  for (const std::string& rows : {first + again, again + first})
    EXPECT_THAT(JobsOf(head + rows), ElementsAre("1@0:300x4")) << rows;
}

TEST(HeliosTraceTest, WithoutSubmissionsJobsArriveBeforeTheirTimeInTheQueue) {
  EXPECT_THAT(JobsOf("job_id,gpu_num,state,start_time,end_time,duration,queue\n"
                     "1,2,COMPLETED,2020-04-01 00:01:00,2020-04-01 01:01:00,3600,60\n"
                     "2,1,COMPLETED,2020-04-01 00:01:00,2020-04-01 01:01:00,3600,10\n"),
              ElementsAre("1@0:3600x2", "2@50:3600x1"));
}

TEST(SlurmTraceTest, StepsAreFoundWithoutAnId) {
  EXPECT_EQ(ReadingOf("Submit|Start|End|ElapsedRaw|AllocTRES\n"
                      "10|10|70|60|billing=8,cpu=8,gres/gpu=2,node=1\n"
                      "10|10|70|60|cpu=8,gres/gpu=2,node=1\n"
                      "10|10|70|60|cpu=8,gres/gpu=2,node=1\n"),
            "read as Slurm sacct: 1 job, left out: 2 steps");
  EXPECT_EQ(ReadingOf("User|Submit|ElapsedRaw|AllocTRES\n"
                      "ada|10|60|gres/gpu=2\n|10|60|gres/gpu=2\n"),
            "read as Slurm sacct: 1 job, left out: 1 steps");
}

TEST(SlurmTraceTest, ClustersNumberTheirJobsIndependently) {
  EXPECT_THAT(JobsOf("JobID|Cluster|Submit|ElapsedRaw|AllocTRES\n"
                     "7|east|0|60|gres/gpu=1\n7|west|5|30|gres/gpu=1\n"),
              ElementsAre("east/7@0:60x1", "west/7@5:30x1"));
}

TEST(TraceTableTest, JoinedFilesRepeatTheirHeader) {
  EXPECT_THAT(JobsOf("job_id,submit_time,duration_s,gpus\n1,0,60,1\n"
                     "job_id,submit_time,duration_s,gpus\n2,5,30,2\n"),
              ElementsAre("1@0:60x1", "2@5:30x2"));
}

TEST(TraceTableTest, SpreadsheetsEndRowsInSeparators) {
  EXPECT_THAT(JobsOf("job_id,submit_time,duration_s,gpus,,,\n1,0,60,1,,,\n2,5,30,2\n"),
              ElementsAre("1@0:60x1", "2@5:30x2"));
}

TEST(TraceTableTest, ManyColumnsTakeLinearTime) {
  std::string text = "submit_time,duration_s,gpus";
  for (int i = 0; i < 200'000; ++i) text += fmt::format(",c{}", i);
  text += "\n0,60,1" + std::string(200'000, ',') + "\n";
  EXPECT_THAT(JobsOf(text), ElementsAre("@0:60x1"));
}

TEST(RecognizeTraceTest, AHeaderDecidesBeforeTheRows) {
  EXPECT_THAT(JobsOf("job_id,submit_time,gpus,state,duration_s,user\n1,0,1,Failed,60,u\n"
                     "2,5,1,PENDING,60,u\n"),
              ElementsAre("1@0:60x1"));
  EXPECT_THAT(JobsOf("job_name,task_name,inst_num,status,start_time,end_time,plan_cpu,plan_mem,"
                     "plan_gpu,gpu_type\n" +
                     std::string("aa,worker,3.0,Terminated,110.0,390.0,600.0,29.3,100.0,V100\n")),
              ElementsAre("aa@0:280x3"));
}

constexpr std::string_view kPaiJobs =
    "aa,i1,u1,Terminated,100.0,400.0\nbb,i2,u1,Failed,50.0,90.0\ncc,i3,u2,Running,60.0,\n"
    "dd,i4,u2,Terminated,70.0,80.0\nee,i5,u2,Waiting,75.0,\n";
constexpr std::string_view kPaiTasks =
    "aa,ps,1.0,Terminated,105.0,400.0,600.0,29.3,,CPU\n"
    "aa,worker,3.0,Terminated,110.0,390.0,600.0,29.3,50.0,V100\n"
    "bb,tensorflow,1.0,Failed,60.0,90.0,600.0,29.3,25.0,T4\n"
    "bb,evaluator,2.0,Failed,65.0,95.0,600.0,29.3,100.0,T4\n"
    "cc,worker,1.0,Running,65.0,,600.0,29.3,100.0,V100\n"
    "ee,worker,1.0,Waiting,,,600.0,29.3,100.0,V100\n";

std::vector<std::string> PaiJobsOf(const Result<RecordedTrace>& trace) {
  if (!trace) return {trace.error().message};
  std::vector<std::string> jobs;
  for (const RecordedJob& job : trace->jobs) {
    jobs.push_back(fmt::format("{}@{}:{}x{}", job.id, job.submitted.count(), job.duration.count(),
                               job.gpus.count()));
  }
  jobs.push_back(trace->Describe());
  return jobs;
}

TEST(PaiTraceTest, JobsAndTasksAreJoined) {
  const auto jobs = RecognizeTrace(kPaiJobs, "jobs.csv");
  const auto tasks = RecognizeTrace(kPaiTasks, "tasks.csv");
  ASSERT_TRUE(jobs && tasks);
  EXPECT_EQ(jobs->form, TraceForm::kPaiJobs);
  EXPECT_EQ(tasks->form, TraceForm::kPaiTasks);
  EXPECT_THAT(
      PaiJobsOf(
          ReadPaiTrace({kPaiTasks, "tasks.csv", *tasks}, PaiTable{kPaiJobs, "jobs.csv", *jobs})),
      ElementsAre("bb@0:35x3", "aa@50:280x2",
                  "read as jobs and tasks of Alibaba PAI 2020: 2 jobs, left out: 1 running, "
                  "without the time so far, 1 without tasks, 1 pending; 2 with a fraction of a "
                  "GPU, rounded up"));
}

TEST(PaiTraceTest, AJobWhoseTasksHaveNoTimesRanFromSubmissionToEnd) {
  const std::string_view tasks = "aa,worker,2.0,Terminated,,,600.0,29.3,100.0,V100\n";
  const std::string_view jobs = "aa,i1,u1,Terminated,100.0,400.0\n";
  const RecognizedTrace without_header{TraceForm::kPaiTasks, ',', false};
  RecognizedTrace of_jobs = without_header;
  of_jobs.form = TraceForm::kPaiJobs;
  const auto trace =
      ReadPaiTrace({tasks, "tasks.csv", without_header}, PaiTable{jobs, "jobs.csv", of_jobs});
  ASSERT_TRUE(trace) << trace.error().message;
  ASSERT_EQ(trace->jobs.size(), 1U);
  EXPECT_EQ(trace->jobs[0].duration, Seconds(300));
  EXPECT_THAT(trace->Describe(), HasSubstr("1 whose tasks have no times, from submission to end"));
}

TEST(PaiTraceTest, TasksAreEnough) {
  EXPECT_THAT(JobsOf(kPaiTasks), ElementsAre("bb@0:35x3", "aa@50:280x2"));
}

TEST(RecognizeTraceTest, OtherTextIsRejectedWithTheForms) {
  EXPECT_THAT(RecognizeTrace("hello\nworld\n", "f").error().message,
              HasSubstr("f:1: the first line, \"hello\", names no known columns: write CSV with "
                        "job_id, submit_time, duration_s, gpus"));
  EXPECT_THAT(RecognizeTrace("\xFF\xFEj", "f").error().message, HasSubstr("save it as UTF-8"));
  EXPECT_THAT(RecognizeTrace("\x1F\x8B\x08", "f").error().message, HasSubstr("gunzip"));
  EXPECT_EQ(RecognizeTrace("job_id,model,arrival_s,total_iterations,gpus\n", "f")->form,
            TraceForm::kIterations);
  EXPECT_EQ(RecognizeTrace(" \n[{}]", "f")->form, TraceForm::kJson);
}

// However rows and columns are ordered and written, the jobs that are read are those that were
// generated.
TEST(RecordedTracePropertyTest, MadeTracesAreReadBackInAnyOrderAndForm) {
  constexpr uint64_t kSeeds = 200;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const auto pick = [&random](std::initializer_list<const char*> of) {
      return std::string(of.begin()[random.Below(of.size())]);
    };
    const char separator = pick({",", ";", "\t", "|"}).front();
    const std::string end = pick({"\n", "\r\n"});
    std::vector<std::string> columns = {"job_id", "submit_time", "duration_s", "gpus", "extra"};
    const auto shuffle = [&random](auto& list) {
      for (size_t at = list.size(); at > 1; --at) std::swap(list[at - 1], list[random.Below(at)]);
    };
    shuffle(columns);
    std::vector<std::string> expected;
    std::vector<std::string> rows;
    const int64_t begin = static_cast<int64_t>(random.Below(2'000'000'000));
    const size_t count = 1 + random.Below(20);
    for (size_t job = 0; job < count; ++job) {
      const uint64_t at = job == 0 ? 0 : random.Below(100'000);
      const uint64_t length = 1 + random.Below(1'000'000);
      const uint64_t gpus = 1 + random.Below(64);
      expected.push_back(fmt::format("j{}@{}:{}x{}", job, at, length, gpus));
      std::string row;
      for (const std::string& column : columns) {
        if (!row.empty()) row += separator;
        const bool quoted = separator != '|' && random.Below(3) == 0;
        const std::string value = column == "job_id" ? fmt::format("j{}", job)
                                  : column == "submit_time"
                                      ? fmt::format("{}", begin + static_cast<int64_t>(at))
                                  : column == "duration_s" ? fmt::format("{}", length)
                                  : column == "gpus"       ? fmt::format("{}", gpus)
                                                           : pick({"x", "None", "-", "1"});
        row += quoted ? '"' + value + '"' : value;
      }
      rows.push_back(row + end + (random.Below(4) == 0 ? end : ""));
    }
    shuffle(rows);
    std::string text = random.Below(2) == 0 ? "\xEF\xBB\xBF" : "";
    for (const std::string& column : columns) {
      if (&column != columns.data()) text += separator;
      text += column;
    }
    text += end;
    for (const std::string& row : rows) text += row;
    EXPECT_THAT(JobsOf(text), ::testing::UnorderedElementsAreArray(expected)) << text;
  }
}

}  // namespace
}  // namespace synergy::testing
