#include "failure/evidence.h"

#include <initializer_list>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "json/text.h"

namespace synergy {
namespace {

TEST(Evidence, MasksSecrets) {
  const std::string secret = "Zx81kQpLm42sTuVw99";
  for (const std::string& line : {
           "fatal: could not read from https://ann:" + secret + "@git.example/x.git",
           "clone https://" + secret + "@git.example/x.git failed",
           "401 for Authorization: Bearer " + secret,
           "login failed: password=" + secret,
           "bad config {'api_key': '" + secret + "', 'lr': 0.1}",
           "bad config {\"WANDB_API_KEY\": \"" + secret + "\"}",
           "run.py --token " + secret + " --lr 1",
           "AWS_SECRET_ACCESS_KEY=" + secret,
           "HF_TOKEN=" + secret + " is invalid",
           "GET https://b.s3.example/x?X-Amz-Signature=" + secret + "&y=1",
           "token hf_" + secret + " is expired",
           "use ghp_" + secret,
           "AccountKey=" + secret + "==;EndpointSuffix=core",
           "[launch.py:321] ['python', '--api_key', '" + secret + "', '--lr', '1'] exits with -9",
           R"({"msg":"POST {\"password\": \")" + secret + R"(\"} refused"})",
           "401 for Authorization: Negotiate " + secret,
           "403, Cookie: theme=dark; session=" + secret,
           "postgresql://ann:Zx81/" + secret + "@db.example:5432/x",
           "postgresql://ann:Zx81@" + secret + "@db.example:5432/x",
           "Server=db;Uid=ann;Pwd=" + secret + ";",
           "curl -u ann:" + secret + " https://x.example failed",
           "stripe: invalid key sk_live_" + secret,
           "google: token ya29." + secret + " has expired",
           "-----BEGIN PGP PRIVATE KEY BLOCK-----" + secret,
       }) {
    const std::string evidence = Evidence(line);
    EXPECT_EQ(evidence.find(secret), std::string::npos) << evidence;
    EXPECT_NE(evidence.find("***"), std::string::npos) << evidence;
  }
}

TEST(Evidence, MasksAValueToItsEnd) {
  for (const auto& [line, masked] : std::initializer_list<std::pair<std::string, std::string>>{
           {"connect failed: password=Tr0&b4dour3x! at db", "connect failed: password=*** at db"},
           {"DB_PASSWORD='p&ssw0rd! long' x", "DB_PASSWORD='***' x"},
           {"DB_PASSWORD=\"a 'b' \\\" c\" x", "DB_PASSWORD=\"***\" x"},
           {"password=ab;cdefghij x", "password=*** x"},
           {"password=hunter2,rest4secret x", "password=*** x"},
           {"MYSQL_PWD=secret1", "MYSQL_PWD=***"},
           {"PGPASSWORD=abc psql", "PGPASSWORD=*** psql"},
           {"password: correcthorse, user: ann", "password: *** user: ann"},
           {"{'password': 'it''s', 'lr': 1}", "{'password': '***''s', 'lr': 1}"},
           {R"({\"token\": \"a1, b2}\", \"lr\": 1})", R"({\"token\": \"***\", \"lr\": 1})"},
           {"password: a1b2 x", "password: *** x"},
           {"run.py --password letmein --lr 1", "run.py --password *** --lr 1"},
           {"run.py --auth-token=abcdef&1 --lr 1", "run.py --auth-token=*** --lr 1"},
           {"client_secret = \"two words\"", "client_secret = \"***\""},
           {"no end: secret='abc def", "no end: secret='***"},
       }) {
    EXPECT_EQ(Evidence(line), masked);
  }
}

TEST(Evidence, KeepsWhatIsNone) {
  for (const std::string line : {
           "Child process 12 terminated with signal SIGKILL",
           "DataLoader worker (pid 7) is killed by signal: Killed.",
           "Sending process 7 closing signal SIGTERM",
           "Rank 0 failed to pass monitoredBarrier in 300000 ms",
           "found Inf in backward pass before data-parallel communication",
           "max_tokens=131072, pad_token=<pad>, tokenizer=meta-llama/Llama-3",
           "Unexpected token: identifier",
           "basic training failed: digest mismatch",
           "secret \"wandb-login\" not found",
           "function signature: forward(input)",
           "login failed: password=None, token=***",
           "couldn't find key password in Secret team/login-1",
           "Access denied (using password: YES)",
           "bypass=yes compass: northeast",
           "ValueError: tokens per batch must be positive",
           "KeyError: 'password'",
           "botocore.exceptions.NoCredentialsError: Unable to locate credentials",
           "InvalidTokenError: Signature verification failed",
           "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB",
           "OSError: [Errno 28] No space left on device: '/out/a@b'",
       }) {
    EXPECT_EQ(Evidence(line), line);
  }
}

TEST(Evidence, ShowsThePlaceOfALongLine) {
  const std::string line = std::string(5000, 'a') + " CUDA out of memory " + std::string(5000, 'b');
  const std::string evidence = Evidence(line, 5001);
  EXPECT_LE(evidence.size(), kLongestEvidence);
  EXPECT_NE(evidence.find("CUDA out of memory"), std::string::npos);
}

TEST(Evidence, ShowsThePlaceWhateverIsBeforeAndAfterIt) {
  const std::string found = "CUDA out of memory";
  for (const std::string before : {"a", "\xff", "\xe2\x94\x81", "\t"}) {
    for (const std::string after : {" bbbbbbbb", "\tpassword=letmein\t", " \xff"}) {
      for (const size_t times : {0, 40, 90, 300, 5000}) {
        std::string line;
        for (size_t i = 0; i < times; ++i) line += before;
        const size_t at = line.size();
        line += found + after + std::string(600, 'c');
        EXPECT_NE(Evidence(line, at).find(found), std::string::npos) << times << before << after;
      }
    }
  }
}

TEST(Evidence, MarksWhereItIsCut) {
  for (size_t after = 0; after < 300; ++after) {
    const std::string line = std::string(300, 'a') + " Killed" + std::string(after, 'b') + "!";
    const std::string evidence = Evidence(line, 301);
    EXPECT_TRUE(evidence.starts_with("..."));
    EXPECT_NE(evidence.ends_with("!"), evidence.ends_with("...")) << after;
  }
}

TEST(Evidence, IsValidUtf8WhereverItIsCut) {
  for (size_t front = 0; front < 4; ++front) {
    std::string line(front, 'x');
    for (int i = 0; i < 300; ++i) line += "\xe2\x94\x81\xff\xf0\x9f\x98\x80";
    for (size_t at = 0; at < line.size(); at += 97) {
      const std::string evidence = Evidence(line, at);
      EXPECT_TRUE(json::IsUtf8(evidence));
      EXPECT_LE(evidence.size(), kLongestEvidence);
    }
  }
}

}  // namespace
}  // namespace synergy
