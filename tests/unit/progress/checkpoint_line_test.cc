#include "progress/checkpoint_line.h"

#include <string_view>

#include <gtest/gtest.h>

namespace synergy {
namespace {

TEST(CheckpointLine, RecognizesLinesThatReportAWrite) {
  for (const std::string_view text :
       {// Hugging Face, with a bar whose line was not ended
        "Saving model checkpoint to out/checkpoint-500",
        " 50%|#####     | 500/1000 [02:32<02:30,  3.32it/s]Saving model checkpoint to out/c-500",
        "[INFO|trainer.py:3410] 2026-11-22 07:05:03,250 >> Saving model checkpoint to out/c-500",
        // Accelerate, and diffusers' scripts
        "11/22/2026 07:05:03 - INFO - accelerate.accelerator - Saving current state to out/c-500",
        "11/22/2026 07:05:03 - INFO - __main__ - Saved state to out/checkpoint-500",
        // Lightning
        "Epoch 0, global step 938: 'val_loss' reached 0.35 (best 0.35), saving model to "
        "'/logs/epoch=0-step=938.ckpt' as top 1",
        // Keras
        "Epoch 1: val_loss improved from inf to 0.35, saving model to model.keras",
        "Epoch 00001: saving model to /out/cp-0001.ckpt",
        // Megatron
        "saving checkpoint at iteration    1000 to /out in torch_dist format",
        "  successfully saved checkpoint from iteration    1000 to /out [ t 1/1, p 1/1 ]",
        // DeepSpeed
        "[2026-11-22 07:05:03,250] [INFO] [logging.py:96:log_dist] [Rank 0] [Torch] Checkpoint "
        "global_step100 is about to be saved!",
        "[INFO] [logging.py:96:log_dist] [Rank 0] Saving model checkpoint: out/mp_rank_00.pt",
        // nanoGPT, PyTorch's tutorials, timm
        "saving checkpoint to out", "Epoch 10 | Training checkpoint saved at checkpoint.pt",
        "Epoch 10 | Training snapshot saved at snapshot.pt", "Current checkpoints:",
        // fairseq, detectron2, TensorFlow, torchtune, torchtitan
        "2026-11-22 07:05:03 | INFO | fairseq.checkpoint_utils | Saved checkpoint "
        "out/checkpoint1.pt (epoch 1 @ 100 updates, score 5.1) (writing took 1.2 seconds)",
        "[11/22 07:05:03 fvcore.common.checkpoint]: Saving checkpoint to "
        "./output/model_0004999.pth",
        "INFO:tensorflow:Saving checkpoints for 1000 into /model/model.ckpt.",
        "Saved checkpoint for step 10: ./tf_ckpts/ckpt-1",
        "INFO:torchtune:Model checkpoint of size 2.50 GiB saved to /out/hf_model_0001.pt",
        "[titan] Saving the checkpoint (or staging if async is enabled).",
        "[titan] Finished saving the checkpoint in 1.20 seconds.",
        "INFO:root:saved checkpoint 12/20 to /data/step-100.pt"}) {
    EXPECT_TRUE(ReportsCheckpoint(text)) << text;
  }
}

TEST(CheckpointLine, RejectsLinesThatOnlyMentionOne) {
  for (const std::string_view text :
       {"",
        "Loading checkpoint shards: 100%|##########| 2/2 [00:03<00:00,  1.52s/it]",
        "loading checkpoint from /out at iteration 1000",
        " successfully loaded checkpoint from /out [ t 1/1, p 1/1 ] at iteration 1000",
        "Loading model from out/checkpoint-500.",
        "Loaded checkpoint saved at step 100",
        "Resuming training from saved checkpoint out/checkpoint-500",
        "Restoring states from the checkpoint path at /logs/epoch=0-step=938.ckpt",
        "Found checkpoint saved by another version",
        "No checkpoint found in /out",
        "No saved checkpoint yet",
        "could not find saved checkpoint, starting from scratch",
        "Deleting older checkpoint [out/checkpoint-500] due to args.save_total_limit",
        "Removing the last saved checkpoint",
        "Not saving checkpoint: the loss is worse",
        "Skipping saving checkpoint",
        "Checkpoint was not saved",
        "Failed: checkpoint not written",
        "Epoch 3, global step 200: 'val_loss' was not in top 1",
        "Epoch 2: val_loss did not improve from 0.35",
        "Checkpoints will be saved to /out",
        "Saving checkpoints every 500 steps",
        "Saving checkpoints: True",
        "Saving checkpoints is disabled",
        "save_checkpoint=True, checkpoint_dir=/out",
        "gradient checkpointing saved 4 GB",
        "activation checkpointing: saving memory",
        "Writing logs to checkpoint folder /out",
        "Saving state to file is not needed",
        "the model to train: bert",
        "loading saved model to GPU 0"}) {
    EXPECT_FALSE(ReportsCheckpoint(text)) << text;
  }
}

}  // namespace
}  // namespace synergy
