#include <algorithm>
#include <array>

#include <re2/re2.h>

#include "failure/rules.h"

namespace synergy {
namespace {

constexpr auto kLine = Where::kLine;
constexpr auto kException = Where::kException;
constexpr auto kType = Where::kType;

constexpr Outcome kOnOtherMachines = {Cause::kEngine, Behaviour::kDeterministic,
                                      Advice::kRetryElsewhere};
constexpr Outcome kArithmetic = {Cause::kEngine, Behaviour::kDeterministic, Advice::kFix};
// The user gave a wrong name, wherever it was looked up.
constexpr Outcome kByName = {Cause::kUser, Behaviour::kDeterministic, Advice::kFix};
constexpr Outcome kByTheUser = {Cause::kUser, Behaviour::kUnknown, Advice::kRetry};

// Texts with a single meaning come first, types of exceptions last. clang-format is off because it
// would lay out the whole table again whenever a long expression changes.
// clang-format off
constexpr std::array kRules = {
    // --- GPUs ---
    LogRule{"ecc-error", Category::kGpuMemoryFault, kLine, "ECC",
            R"((?i)uncorrectable (?:\w+ )*ECC|double[- ]bit ECC|ECC_?UNCORRECTABLE)"},
    LogRule{"ecc-name", Category::kGpuMemoryFault, kLine, "cudaErrorECCUncorrectable"},
    LogRule{"xid-memory-line", Category::kGpuMemoryFault, kLine, "Xid",
            R"(\bXid\b[^)]*\)?:? *(?:48|63|64|94|95|140|156)\b)"},
    LogRule{"xid-lost-line", Category::kGpuLost, kLine, "Xid",
            R"(\bXid\b[^)]*\)?:? *(?:79|119|120|62|143|46|110|158)\b)"},
    LogRule{"xid-nvlink-line", Category::kNvlink, kLine, "Xid",
            R"(\bXid\b[^)]*\)?:? *(?:74|136|155)\b)"},
    LogRule{"off-the-bus", Category::kGpuLost, kLine, "fallen off the bus"},
    LogRule{"gpu-is-lost", Category::kGpuLost, kLine, "GPU",
            R"((?i)GPU[_ ]is[_ ]lost|GPU requires reset|GPU (?:has )?(?:been )?lost\b)"},
    LogRule{"device-handle", Category::kGpuLost, kLine, "determine the device handle"},
    LogRule{"gsp-timeout", Category::kGpuLost, kLine, "RPC response from GPU"},
    LogRule{
        "nvlink-error", Category::kNvlink, kLine, "vlink",
        R"((?i)(?:uncorrectable|fatal) (?:nvlink|nvlink error)|NvlinkUncorrectable|nvlink.*(?:fatal|uncorrectable|link (?:is )?down|training failed))"},
    LogRule{
        "nvlink-error-capital", Category::kNvlink, kLine, "NV",
        R"(uncorrectable NVLink|NVLINK_UNCORRECTABLE|NVLink.*(?:[Ff]atal|[Uu]ncorrectable|link (?:is )?down|training failed)|SXid.*[Ff]atal)"},
    LogRule{"xla-host-oom", Category::kHostOom, kLine, "OOM when allocating tensor",
            R"(OOM when allocating.*(?:device:CPU|allocator (?:cpu|mklcpu|CPU)))"},
    LogRule{"rapids-oom", Category::kGpuOom, kLine, "bad_alloc",
            R"(bad_alloc: (?:out_of_memory: )?(?:CUDA|RMM))"},
    LogRule{
        "cuda-out-of-memory", Category::kGpuOom, kLine, "ut of memory",
        R"((?i)\b(?:CUDA|HIP|XPU|MPS|NPU|GPU|cuda\w*|hip\w*)(?: driver)?(?: error|_ERROR| failure)?(?: \d+)?(?: \(\w+\))?:? *(?:backend |[\w.]+ |')?out of memory)"},
    LogRule{
        "gpu-tried-to-allocate", Category::kGpuOom, kLine, "ried to allocate",
        R"(Tried to allocate [\d.]+ [KMGT]i?B.*(?:GPU|NPU|CUDA|capacity|reserved)|out of memory\. Tried to allocate)"},
    LogRule{"cuda-oom-code", Category::kGpuOom, kLine, "OUT_OF_MEMORY",
            R"((?:CUDA|HIP)_ERROR_OUT_OF_MEMORY)"},
    LogRule{"cuda-oom-name", Category::kGpuOom, kLine, "ErrorMemoryAllocation"},
    LogRule{"cuda-malloc", Category::kGpuOom, kLine, "CUDA malloc", R"((?i)failed to CUDA malloc)"},
    LogRule{"cuda-malloc-failed", Category::kGpuOom, kLine, "",
            R"((?:cudaSuccess \(|(?i:\bcuda (?:runtime |driver )?(?:error|failure)(?: code)?:? ?[=(]?))2\b(?: vs\. 0\))?|CUBLAS_STATUS_SUCCESS \(3 vs\. 0\)|Out of GPU memory|[Oo]ut of memory on (?:the )?(?:device|GPU)|GPUassert: out of memory|cudaMalloc\w*\(.*out of memory|cudaMalloc\w* (?:of size \d+ |retry )?failed|alloc_buffer: failed to allocate CUDA|\bOutOfGPUMemoryError\b|\bNCudaLib::TOutOfMemoryError\b|^out of memory /\S*cuda|\bhipErrorOutOfMemory\b|Requested amount of GPU memory \(\d+ bytes\) could not be allocated|\b(?:VK|ZE_RESULT|UR_RESULT)_ERROR_OUT_OF_DEVICE_MEMORY\b|\bOutOfDeviceMemory|kIOGPUCommandBufferCallbackErrorOutOfMemory)"},
    LogRule{"torch-oom", Category::kGpuOom, kException, "OutOfMemoryError",
            R"(^(?:torch\.(?:cuda\.)?|cupy\.[\w.]+|torch_npu\.[\w.]+)OutOfMemoryError)"},
    LogRule{
        "xla-oom", Category::kGpuOom, kLine, "RESOURCE_EXHAUSTED",
        R"(RESOURCE_EXHAUSTED: *(?:.*[Oo]ut of memory|.*allocat|.*exceeds the (?:limit|memory)|.*hbm|.*OOM|Ran out))"},
    LogRule{"xla-hbm", Category::kGpuOom, kLine, "Ran out of memory in memory space"},
    LogRule{"tf-oom", Category::kGpuOom, kLine, "OOM when allocating tensor"},
    LogRule{"tf-oom-buffer", Category::kGpuOom, kLine,
            "Failed to allocate memory for requested buffer"},
    LogRule{"tf-oom-copy", Category::kGpuOom, kLine, "Dst tensor is not initialized"},
    LogRule{"cublas-alloc", Category::kGpuOom, kLine, "STATUS_ALLOC_FAILED"},
    LogRule{"paddle-oom", Category::kGpuOom, kLine, "ut of memory error on GPU"},
    // The longest request that the settings allow does not fit; the message asks for other settings.
    LogRule{"kv-cache-length", Category::kConfiguration, kLine, "max seq len",
            R"(larger than (?:the )?(?:maximum number of tokens.*KV cache|available KV cache memory))"},
    LogRule{
        "kv-cache", Category::kGpuOom, kLine, "",
        R"(No available memory for the cache blocks|(?:larger|less) than (?:the )?(?:available|maximum number of tokens).*KV cache|available KV cache memory|Not enough memory\. Please try to increase --mem-fraction-static|Free memory on device .* is less than desired GPU memory utilization)"},
    LogRule{"device-assert", Category::kDeviceAssert, kLine, "device-side assert",
            R"(device-side assert\b)"},
    LogRule{"device-assert-name", Category::kDeviceAssert, kLine, "",
            R"((?:cudaSuccess \(|(?i:\bcuda (?:runtime |driver )?(?:error|failure)(?: code)?:? ?[=(]?))(?:59|710)\b|cudaErrorAssert|(?:CUDA|HIP)_ERROR_ASSERT|hipErrorAssert)"},
    LogRule{"kernel-assertion", Category::kDeviceAssert, kLine, "block: [",
            R"(block: \[\d+,\d+,\d+\], thread: \[.*[Aa]ssertion)"},
    LogRule{"illegal-access", Category::kIllegalAccess, kLine, "illegal memory access"},
    LogRule{
        "illegal-access-name", Category::kIllegalAccess, kLine, "",
        R"((?:cuda|hip)Error(?:IllegalAddress|InvalidAddressSpace|LaunchFailure|MisalignedAddress|IllegalInstruction|InvalidPc|HardwareStackError)|(?:CUDA|HIP)_ERROR_(?:ILLEGAL_ADDRESS|INVALID_ADDRESS_SPACE|LAUNCH_FAILED|MISALIGNED_ADDRESS|ILLEGAL_INSTRUCTION|INVALID_PC|HARDWARE_STACK_ERROR))"},
    LogRule{
        "launch-failure", Category::kIllegalAccess, kLine, "",
        R"((?:cudaSuccess \(|(?i:\bcuda (?:runtime |driver )?(?:error|failure)(?: code)?:? ?[=(]?))(?:4|74|77|700|714|715|716|717|718|719)\b|unspecified launch failure|operation not supported on global/shared address space|CUDA.*misaligned address|CUDA.*illegal instruction was encountered|Memory access fault by GPU node|Warp (?:Illegal|Out-of-range) (?:Address|Instruction)|Invalid __(?:global|shared)__ (?:read|write) of size)"},
    LogRule{
        "no-kernel-image", Category::kCudaVersion, kLine, "",
        R"((?:cudaSuccess \(|(?i:\bcuda (?:runtime |driver )?(?:error|failure)(?: code)?:? ?[=(]?))(?:8|48|98|200|209)\b|no kernel image is available for execution|invalid device function|device kernel image is invalid|cudaErrorNoKernelImageForDevice|CUDA_ERROR_NO_BINARY_FOR_GPU|cudaErrorInvalidKernelImage)"},
    LogRule{
        "driver-too-old", Category::kCudaVersion, kLine, "river",
        R"((?i)driver version is insufficient|driver on your system is too old|InsufficientDriver|unsupported display driver / cuda driver combination|driver is too old|installed NVIDIA driver.* too old)"},
    LogRule{
        "forward-compatibility", Category::kCudaVersion, kLine, "",
        R"((?:cudaSuccess \(|(?i:\bcuda (?:runtime |driver )?(?:error|failure)(?: code)?:? ?[=(]?))(?:35|803|804)\b|forward compatibility was attempted on non supported HW|CompatNotSupportedOnDevice|COMPAT_NOT_SUPPORTED_ON_DEVICE|cudaErrorSystemDriverMismatch|CUDA_ERROR_SYSTEM_DRIVER_MISMATCH)"},
    LogRule{
        "ptx-too-new", Category::kCudaVersion, kLine, "",
        R"(nvrtc: error: invalid value for --gpu-architecture|(?:cudaSuccess \(|(?i:\bcuda (?:runtime |driver )?(?:error|failure)(?: code)?:? ?[=(]?))(?:218|222)\b|PTX was compiled with an unsupported toolchain|UNSUPPORTED_PTX_VERSION|UnsupportedPtxVersion|CUDA_ERROR_INVALID_PTX)"},
    LogRule{
        "gpu-too-old", Category::kCudaVersion, kLine, "",
        R"((?i)only supports? (?:ampere|hopper|ada|volta|turing|blackwell)[\w ,/]* GPUs?|compute capability of at least|requires? (?:a )?(?:GPU|device|CUDA)s? with (?:compute )?capability|minimum (?:required )?cuda (?:compute )?capability|unsupported gpu architecture|found GPU.*which is too old|is not compatible with the current PyTorch installation\.? *$|Feature '.*' not supported on .target 'sm_|requires? (?:compute capability|sm_?\d\d)|\b(?:sm|compute)_\d+\w*'? (?:is |are )?(?:not (?:defined|supported)|unsupported))"},
    LogRule{"nvidia-requirement", Category::kCudaVersion, kLine, "unsatisfied condition"},
    LogRule{
        "no-gpu", Category::kCudaInit, kLine, "",
        R"((?:cudaSuccess \(|(?i:\bcuda (?:runtime |driver )?(?:error|failure)(?: code)?:? ?[=(]?))(?:3|30|38|46|100|802|999)\b|No CUDA GPUs are available|No supported gpu backend found|no CUDA-capable device is detected|Found no NVIDIA driver on your system|No HIP GPUs are available|Failed to create CUDA context|[Cc]annot find any \w+ accelerator|[Yy]ou need a GPU|GPU is required|No (?:visible )?GPUs? (?:is |are |was |were )?(?:found|detected|available)|(?:couldn't|could not) communicate with the NVIDIA driver)"},
    LogRule{
        "no-gpu-name",
        Category::kCudaInit, kLine, "", R"((?:cuda|hip)Error(?:NoDevice|DevicesUnavailable|DeviceUnavailable|InitializationError|SystemNotReady|NotReady802)|CUDA_ERROR_(?:SYSTEM_NOT_READY|NOT_INITIALIZED|DEVICE_UNAVAILABLE|NO_DEVICE|UNKNOWN|DEINITIALIZED)\b)"},
    LogRule{
        "cuda-init-failed", Category::kCudaInit, kLine, "",
        R"(CUDA error: initialization error|CUDA unknown error\b|CUDA driver initialization failed|[Uu]nexpected error from cud\w+|[Aa]ll CUDA-capable devices are busy|CUDA driver library cannot be found|Error at driver init|CUDA-capable device\(s\) is/are busy|system not yet initialized|Unable to initialize backend '(?:cuda|gpu|rocm)'|cuInit\(?.*(?:failed|returned|error)|failed call to cuInit|CUDA error: unknown error|FAILED_PRECONDITION: No visible GPU devices|no supported devices found for platform CUDA)"},
    LogRule{
        "nvml-lost", Category::kCudaInit, kLine, "",
        R"(Failed to initialize NVML|NVML: Driver/library version mismatch|NVMLError_(?:LibRmVersionMismatch|DriverNotLoaded|Unknown|LibraryNotFound|Uninitialized)|pynvml\.(?:nvml\.)?NVMLError_|can't initialize NVML)"},
    LogRule{"nvidia-container", Category::kCudaInit, kLine, "nvidia-container-cli"},

    // --- Memory and disks ---
    LogRule{
        "shm-segment", Category::kShmTooSmall, kLine, "shm",
        R"((?i)/dev/shm.*(?:no space|not enough|insufficient|too small|bus error|cannot allocate|failed|exceeds)|(?:no space left|not enough space|insufficient|bus error|cannot allocate|failed).*/dev/shm|insufficient shared memory|increase.*(?:shm|shared memory))"},
    LogRule{
        "shm-insufficient", Category::kShmTooSmall, kLine, "hared ",
        R"((?i)insufficient shared (?:memory|storage space)|(?:not enough|out of) shared memory(?: |\.|$)|shared memory ?(?:\(shm\)|segment|object|file).*(?:no space left|cannot allocate|\(28\))|(?:no space left|errno 28).*shared memory|shared memory limit)"},
    LogRule{"shm-worker-bus-error", Category::kShmTooSmall, kLine, "us error",
            R"((?i)worker.*bus error|bus error.*(?:worker|shm|shared memory))"},
    LogRule{
        "shm-file", Category::kShmTooSmall, kLine, "",
        R"(unable to (?:write to|mmap|resize|open) (?:file )?</torch_|No space left on device: '/(?:psm_|torch_|sem\.|pym-|wnsm_|mp-))"},
    LogRule{"shm-semaphore", Category::kShmTooSmall, kLine, "posix_fallocate failed"},
    LogRule{"no-space", Category::kDiskFull, kLine, "o space left on device"},
    LogRule{"no-space-code", Category::kDiskFull, kLine, "",
            R"(\bENOSPC\b|\[Errno 28\]|\berrno[:=]? ?28\b)"},
    LogRule{"disk-quota", Category::kDiskFull, kLine, "uota exceeded",
            R"((?i)(?:disk|file|storage|space|inode)[\w ]* quota exceeded|\[Errno 122\])"},
    LogRule{
        "disk-quota-code", Category::kDiskFull, kLine, "",
        R"(\[Errno 122\]|\bEDQUOT\b|DSQuotaExceeded|NSQuotaExceeded|[Dd]isk (?:is )?full|(?:[Nn]ot enough|[Ii]nsufficient|[Oo]ut of|[Nn]o (?:more )?free|[Nn]o more) (?:free |available )?disk space|(?:[Nn]ot enough|[Ii]nsufficient) (?:free |available |storage )?space (?:on|in|to|left|available)|ephemeral[- ]storage.*exceed|exceed.*ephemeral[- ]storage)"},
    LogRule{
        "torch-writer", Category::kDiskFull, kLine, "",
        R"(PytorchStreamWriter failed writing file|inline_container\.cc:\d+.*unexpected pos \d+ vs \d+)"},
    LogRule{"worker-oom-killed", Category::kHostOom, kLine, "killed by signal: Killed"},
    LogRule{
        "kernel-oom", Category::kHostOom, kLine, "",
        R"(oom-kill:constraint|invoked oom-killer|(?:Memory cgroup out|[Oo]ut) of memory:? Kill(?:ed)? process|oom_reaper: reaped|oom[-_ ]kill event|OOM Killed|\bOOMKilled\b|[Kk]illed by (?:the )?(?:cgroup )?(?:OOM|out-of-memory)[- ]killer|some of the step tasks have been OOM Killed|[Oo]ut[- ]of[- ]memory handler)"},
    LogRule{
        "ray-oom", Category::kHostOom, kLine, "",
        R"(killed due to memory pressure|due to the node running low on memory|killed due to the node running low|memory on the node .* exceeding the memory usage threshold|ray\.exceptions\.OutOfMemoryError)"},
    LogRule{"memory-error", Category::kHostOom, kException, "MemoryError",
            R"(^(?:[\w.]+\.)?_?(?:Array|Arrow)?MemoryError\b)"},
    LogRule{
        "cannot-allocate-array", Category::kHostOom, kLine, "",
        R"(Unable to allocate [\d.]+ [KMGTP]iB|DefaultCPUAllocator: (?:can't|not enough)|alloc_cpu\.cpp.*(?:allocate|memory))"},
    LogRule{
        "ib-memlock", Category::kConfiguration, kLine, "",
        R"(ibv_(?:reg_mr|create_\w+)\w*(?:\(\))? .*Cannot allocate memory|(?:memlock|locked memory)[\w ()-]* ?\(?u?limit)"},
    LogRule{
        "fabric-memory", Category::kMpi, kLine, "Cannot allocate memory",
        R"((?:\b(?:UCX|OFI|UCP|UCT|IB|PSM2?|EFA|fi_\w+)\b|ibv_|\bmlx\d|rdma|libfabric|verbs|MPID\w*_|MPIR?_|hfi\d|btl[_:]|mtl[_:]).*Cannot allocate memory)"},
    LogRule{
        "enomem", Category::kHostOom, kLine, "",
        R"(\[Errno 12\]|Cannot allocate memory|std::bad_alloc|cannot allocate vector of size|java\.lang\.OutOfMemoryError: (?:Java heap space|GC overhead|unable to create)|<jemalloc>: .*llocat|tcmalloc: .*allocation|(?:malloc|host allocation) of size \d+ failed|[Oo]ut of (?:host|system|CPU) memory|CPU out of memory|runtime: out of memory|memory allocation of \d+ bytes failed|KilledWorker)"},

    // --- The system's errors in other languages (glibc, bash) ---
    LogRule{
        "command-translated", Category::kCommand, kLine, "",
        R"(Kommando nicht gefunden|Befehl nicht gefunden|[Cc]ommande introuvable|orden no encontrada|comando non trovato|comando não encontrado|未找到命令|コマンドが見つかりません|команда не найдена|명령어를 찾을 수 없음)"},
    LogRule{
        "missing-translated", Category::kInputMissing, kLine, "",
        R"(Datei oder Verzeichnis nicht gefunden|Aucun fichier ou dossier de ce (?:type|nom)|No existe el (?:fichero|archivo) o el directorio|File o directory non esistente|Arquivo ou diretório inexistente|没有那个文件或目录|そのようなファイルやディレクトリはありません|Нет такого файла или каталога|그런 파일이나 디렉터리가 없습니다)"},
    LogRule{
        "permission-translated", Category::kPermission, kLine, "",
        R"(Keine Berechtigung|Permission non accordée|Permiso denegado|Permesso negato|Permissão negada|权限不够|許可がありません|Отказано в доступе|허가 거부)"},
    LogRule{
        "no-space-translated", Category::kDiskFull, kLine, "",
        R"(Auf dem Gerät ist kein Speicherplatz mehr|Kein Speicherplatz mehr|Aucun espace disponible sur le périphérique|No queda espacio en el dispositivo|Spazio esaurito sul device|Não há espaço disponível no dispositivo|设备上没有空间|デバイスに空き領域がありません|На устройстве не осталось свободного места|장치에 남은 공간이 없음)"},

    // --- Commands and arguments ---
    LogRule{"script-missing", Category::kCommand, kLine, "can't open file",
            R"(can't open file '?.*(?:No such file|Permission denied|\[Errno))"},
    LogRule{
        "no-main", Category::kCommand, kLine, "",
        R"(can't find '__main__' module in|[Ee]xec format error|cannot execute(?:: | binary file)|bad interpreter|executable file not found|^(?:-?(?:/\S*/)?(?:ba|da|z|k|a)?sh|/\S+\.sh|\S+\.sh|(?:/\S*/)?env|exec|time|nohup|sudo|timeout|stdbuf|nice|su|tini|dumb-init|gosu|\[?(?:FATAL )?tini[^\]]*\]?)[: ].*(?:command not found|: not found|No such file or directory|Permission denied|[Ii]s a directory)$|^\S+: command not found$|(?:mpirun|prterun) was unable to (?:find the specified executable|launch the specified application as it could not (?:find|access)))"},
    LogRule{
        "exec-failed", Category::kCommand, kLine, "exec",
        R"((?i)\bexec:? \S+:? .*(?:not found|no such file|permission denied|failed)|exec(?:v|ve|vp|ution)\w*(?: of \S+)?(?:\(\))? failed:? .*no such file|\bexecv\w*\(\): .*no such file|exec user process caused)"},
    LogRule{
        "ssh-mpi", Category::kMpi, kLine, "",
        R"(^ssh: connect to host|Host key verification failed|Permission denied \(publickey|ORTE was unable to reliably start|An ORTE daemon has unexpectedly failed|PRTE daemon|ssh_exchange_identification|kex_exchange_identification)"},
    LogRule{
        "argparse", Category::kArguments, kLine, "error: ",
        R"(^[\w./ -]+: error: (?:unrecognized argument|argument |the following argument|ambiguous option|expected |invalid |one of the arguments|too (?:few|many) arguments|unrecognised|[Pp]arser key|.*[Cc]onfiguration check failed|.*not allowed with|no such option|.*option.* requires|.*\b(?:is|are) required\b|.*must (?:be|specify)|.*unexpected))"},
    LogRule{
        "argparse-any", Category::kArguments, kLine, "",
        R"(^error: (?:unrecognized arguments|[Pp]arser key |the following arguments are required|the following required arguments|argument -))"},
    LogRule{
        "click", Category::kArguments, kLine, "",
        R"(^(?:Error: |(?:\||\xe2\x94\x82) )?(?:No such option:? -|Missing option ['"]?-|Missing argument ['"]|Invalid value for ['"]?-|Invalid value for '?[A-Z_]+'?:|Got unexpected extra argument|Option '?-\S+'? requires|No such command '))"},
    LogRule{
        "absl-flags", Category::kArguments, kLine, "",
        R"([Uu]nknown command line flag|Flags parsing error|flag --\w+=.*: |Flag --\w+ must have a value|UnrecognizedFlagError|IllegalFlagValueError|[Uu]nknown (?:command[- ]line )?(?:option|flag|argument)s?:? ['"`]?-|[Uu]nrecogni[sz]ed (?:command[- ]line )?(?:option|argument|flag)s?\b|(?:invalid|illegal) option -- |flag provided but not defined|Could not consume arg:|required flag\(s\)|unexpected argument '-|option requires an argument -- )"},
    LogRule{"hf-arguments", Category::kArguments, kException, "HfArgumentParser"},
    LogRule{
        "python-no-module", Category::kImport, kLine, "",
        R"(^(?:\S*/)?(?:python[\d.]*|python3?|pypy3?): No module named |[Ee]rror while finding module specification for)"},

    // --- Checkpoints, shapes, inputs ---
    LogRule{
        "weights-archive", Category::kInputCorrupt, kLine, "",
        R"(PytorchStreamReader failed|Error while deserializing header|SafetensorError|invalid header or archive is corrupted|unexpected EOF, expected \d+ more bytes|Invalid magic number; corrupt file|file signature not found)"},
    LogRule{
        "state-dict", Category::kCheckpointContent,
        kLine, "", R"(Error\(s\) in loading state_dict|Missing key\(s\) in state_dict|Unexpected key\(s\) in state_dict|loaded state dict (?:contains|has)|Key \S+ not found in checkpoint|[Mm]issing key in checkpoint state_dict)"},
    LogRule{
        "checkpoint-mismatch", Category::kCheckpointContent, kException, "heckpoint",
        R"((?i)checkpoint.*(?:incomplete|is not complete|incompatible|do(?:es)? not match|do(?:es)?n't match|mismatch|different (?:number|world|dp|tp|architecture)|DP world size|trained with|missing (?:key|shard|param)|lacks|unexpected key|not compatible|no key|contains only|has world size|corrupt|invalid)|(?:mismatch|not compatible|incompatible|inconsistent|does not match|missing key|unexpected key|not equal).*checkpoint|CheckpointException)"},
    LogRule{
        "restore-mismatch", Category::kCheckpointContent, kException, "",
        R"((?i)(?:cannot|can't|could not|couldn't|failed to|unable to|refus\w+ to) (?:restore|load|resume|read|apply)\b.{0,80}\b(?:checkpoint|snapshot|weights|(?:optimizer |model )?state|(?:opt|model)_state)\b.{0,120}(?:mismatch|n(?:o|')t (?:fit|match|agree)|incompatible|differ|no such (?:tensor|param)))"},
    LogRule{
        "checkpoint-key", Category::kCheckpointContent, kException, "KeyError",
        R"(^KeyError: '(?:\w*state_dict\w*|model_state|optimizer_state\w*|optimizer_states|lr_schedulers|global_step|hyper_parameters)')"},
    LogRule{
        "keras-weights", Category::kCheckpointContent, kException, "",
        R"(Cannot deserialize (?:the )?(?:model|layer|node|weights)\b.*mismatch|Layer count mismatch when loading weights|You are trying to load a weight file|weights? file.*(?:expects|layers)|Weights only load failed|Shape mismatch in layer .*for weight|A total of \d+ objects could not be loaded|tree structures? (?:do not|don't) match|Restored? .*(?:structure|shape).* (?:not match|mismatch)|ignore_mismatched_sizes|attempting to restore variable)"},
    LogRule{
        "shape-mismatch", Category::kShape, kException, "",
        R"((?i)shapes? cannot be multiplied|shape axis \d+ must (?:equal|be)|size mismatch|shape mismatch|must match the (?:existing )?size|Given groups=\d+, weight of size|Expected input batch_size|is invalid for input of size|stack expects each tensor to be equal size|Sizes of tensors must match|could not broadcast|could not be broadcast|mismatch in its core dimension|Incompatible shapes|Shapes \(?.*\)? (?:and .* )?(?:are|is) (?:in)?compatible|Shapes? .* (?:must|do not|don't) match|Dimensions? must be equal|dimensions? (?:do not|don't|must) match|inhomogeneous shape|Expected \dD(?: (?:or \dD|\(unbatched\)).*)? .*input|[Ee]xpected \d-?D(?:imensional)?|Expected more than 1 value per channel|Kernel size can't be greater|Target size .* must be the same as input size|number of sizes provided|cannot reshape (?:array|tensor)|non-singleton dimension|is incompatible with the layer|input\.size\(-1\) must be equal|must (?:have|be) (?:the )?same (?:number of dimensions|shape|size|first dimension)|DimensionMismatch|EinopsError|must have same reduction dim|shapes? .*not aligned|contracting dimensions|incompatible shapes|[Ii]nconsistent (?:(?:tensor|input) size|shapes)|\dD target tensor expected|Tensors must have same|all the input array dimensions|only batches of spatial targets|Input and output.*sizes? .*(?:match|same)|Cannot (?:reshape|feed value of shape)|Expected size for|has invalid shape|wrong shape|[Uu]nexpected shape|embed_dim must|was expecting embedding dimension|The shape of the .* tensor|mat1 and mat2 must have the same (?:shape|size)|expand\(.*\): the number|You may have passed.*shape|output with shape .* doesn't match|shape '\[.*\]' is invalid|Calculated padded input size per channel|running_mean should contain|weight tensor should be defined|normalized_shape=|existing parameter it received has shape|got input (?:with )?(?:of )?(?:shape|size)|must be broadcastable|non-conformable|(?:dims?|dimensions?|sizes?|channels?)\b.{0,60}\b(?:should|must|to) (?:be equal|equal|match)|operands? (?:could|with)|matrix multiplication: \[|columns? of (?:left|right)|Enforce failed\. Expected .*(?:dims?|shape|numel|rank)\b.* but received|dimension mismatch)"},
    LogRule{
        "hub-missing", Category::kInputMissing, kLine, "",
        R"(404 Client Error.*\b(?:huggingface\.co|hf\.co)/|(?:Repository|Entry|Revision) Not Found for url|is not a valid (?:git identifier|model identifier)|is not a (?:local folder|valid model identifier)|doesn't exist on the Hub|Couldn't find (?:a dataset script|file|any data|cache)|Can't load (?:the )?(?:tokenizer|model|configuration|config|feature extractor|image processor|weights)|Error no file named|does not appear to have a file named|RepositoryNotFoundError|\bEntryNotFoundError|\bRevisionNotFoundError|\bDatasetNotFoundError|Repo id must be in the form|[Cc]an(?:'t|not) find (?:model|dataset|tokenizer) No (?:valid )?checkpoint (?:was )?found|Can't find a valid checkpoint|No checkpoint.* found)",
        kByName},
    LogRule{
        "object-missing", Category::kInputMissing, kLine, "",
        R"(NoSuchKey|NoSuchBucket|The specified (?:key|bucket|blob|container) does not exist|404 Client Error|HTTP Error 404|\(404\)|404 Not Found|returned error: 404|status(?:[ _]code)?:? ?404|BlobNotFound|No such object: |Path does not exist: |File does not exist: |Not found: gs://|Error executing an HTTP request: HTTP response code 404)"},
    LogRule{
        "data-set-missing", Category::kInputMissing, kException, "",
        R"((?i)dataset not found|(?:image|video|audio|label|annotation|mask|sample|frame|shard|manifest|weights?|checkpoint)s?(?: file)? (?:is |are |was )?(?:not found|missing|not exist)[: ]+[\'"]?[\w./-]*[/.]\w|found 0 (?:files|images|samples|videos)|Found no valid file|Couldn't find any class folder|data ?(?:set|dir|path|file|folder|root)\S* .*(?:does not exist|doesn't exist|not found|not exist|is missing|is not found)|(?:file|path|directory|folder)s? \S* ?(?:does not exist|doesn't exist|not found|is missing|could not be found)|(?:does not exist|doesn't exist|not found): /|cannot be found at|is not a checkpoint file|resource \S+ not found|could not find \S+ (?:file|directory|folder)\b|no (?:such )?(?:files?|data|images|samples|shards) (?:were )?(?:found|matching|exist))"},
    LogRule{
        "gated", Category::kPermission, kLine, "",
        R"(gated repo|Access to model \S+ is restricted|You (?:need|must) (?:to )?(?:have access|be authenticated|agree to share)|awaiting a review from the repo authors)"},
    LogRule{
        "http-refused", Category::kPermission, kLine, "",
        R"(\b40[13] Client Error|HTTP Error 40[13]|\b(?:401|403) (?:Unauthorized|Forbidden)|status(?:[ _]code)?:? ?40[13]\b|\((?:403|401)\)|HTTP response code 40[13]|returned error: 40[13]|error code: 40[13]|rpc error: code = (?:PermissionDenied|Unauthenticated)|PERMISSION_DENIED: |UNAUTHENTICATED: )"},
    LogRule{
        "credentials", Category::kPermission, kLine, "",
        R"(AccessDenied|Access Denied|[Aa]ccess (?:is |was )?denied|AccessControlException|InvalidAccessKeyId|SignatureDoesNotMatch|ExpiredToken|NoCredentialsError|Unable to locate credentials|PartialCredentialsError|DefaultCredentialsError|Anonymous caller|does not have (?:storage|serviceusage|bigquery)\.\S+ access|[Ii]nvalid (?:user ?name or password|username or token|credentials|token|API key)|[Aa]uthentication (?:failed|required|error)|AuthenticationError|AuthorizationPermissionMismatch|AuthorizationFailure|api_key not configured|No API key configured|LocalTokenNotFoundError|token is required|Token is required|could not read Username|[Ll]ogin required|requested access to the resource is denied|not authorized to perform)"},
    LogRule{"permission-error", Category::kPermission, kException, "PermissionError"},
    LogRule{
        "permission-denied", Category::kPermission, kLine, "",
        R"(\[Errno (?:13|1|30)\]|[Pp]ermission denied|Operation not permitted|Read-only file system|\b(?:EACCES|EPERM|EROFS)\b)"},
    LogRule{"corrupt-input", Category::kInputCorrupt, kException, "",
            R"(^(?:[\w.]+\.)?(?:UnicodeDecodeError|UnpicklingError|UnidentifiedImageError|BadZipFile|BadZipfile|BadGzipFile|ReadError|JSONDecodeError|DataLossError|LZMAError|ArrowInvalid|ZstdError|DecodeError|InvalidDataError|LibsndfileError|DECORDError|DatasetGenerationCastError|\w*Corrupt(?:ed|ion)?(?:[A-Z]\w*)?)\b|^(?:pandas\.[\w.]+\.)?ParserError\b|^zlib\.error|^lzma\.|^_csv\.Error|^(?:[\w.]+\.)?EOFError: |^(?:[\w.]+\.)?\w*(?:Error|Exception): (?:.*[^'\"\w-])?[Cc]orrupt(?:ed)?(?:[^'\"\w-]|$))"},
    LogRule{
        "corrupt-text", Category::kInputCorrupt, kLine, "",
        R"((?i)encoded image has ambiguous format|assert on \"?\w*(?:jpe?g|png|tiff|webp|bmp|flac|wav)\w*\(|NVJPEG_STATUS_(?:BAD_JPEG|INCOMPLETE_BITSTREAM)|nvjpeg error.*(?:bad|corrupt|parse)|\bMDB_(?:CORRUPTED|PAGE_NOTFOUND|INVALID)\b|sentencepiece\S* .*ParseFromArray|data files must have the same columns|pickle data was truncated|unrecogni[sz]ed (?:image|audio|video|file) format|!_?src\.empty\(\)|looking for beginning of|ran out of input|cannot identify image file|image file is truncated|broken data stream|not a zip file|not a gzipped file|tar: Unexpected EOF in archive|does not look like a tar archive|(?:gzip|bzip2|xz|zstd|unzip|stdin): .*(?:unexpected end of (?:file|input)|not in gzip format|invalid compressed data|data integrity error|format not recognized|premature end)|cannot find zipfile directory|End-of-central-directory signature not found|CRC check failed|end-of-stream marker was reached|corrupted record|truncated record|parquet magic bytes|not a parquet file|not an arrow file|truncated file|file signature not found|bad magic number|invalid data found when processing input|error tokenizing data|moov atom not found|premature end of JPEG|unpack requires a buffer|(?:checksum|hash|md5|sha256)\w* (?:does not match|mismatch|verification failed)|NonMatchingChecksumError|(?:file|data|database|image|archive|shard|record)s? (?:\S+ )?(?:is|are|may be|might be|seems?|appears?)(?: to be)? (?:corrupt|truncated|damaged|malformed)|corrupt(?:ed)? (?:file|data|image|shard|archive|index)|could not decode|failed to decode|can't decode byte|allow_pickle=False|invalid load key|could not parse ModelProto|json\.exception\.parse_error|Inconsistent (?:block|record) )"},
    LogRule{
        "storage-io", Category::kStorage, kLine, "",
        R"(Input/output error|\[Errno (?:5|107|108|112|116|117|121|512)\]|[Ss]tale (?:NFS )?file handle|[Tt]ransport endpoint is not connected|transport endpoint shutdown|Remote I/O error|Structure needs cleaning|\b(?:EIO|ESTALE)\b|nfs: server \S+ not responding|I/O error, dev|EXT4-fs error|XFS .*I/O [Ee]rror|Buffer I/O error)"},
    LogRule{"object-store", Category::kStorage, kLine, "",
            R"(SlowDown|Slow Down|reduce your request rate|BlockMissingException|could only be (?:written|replicated) to|[Nn]ame node is in safe mode|SafeModeException|Could not obtain block|payload is not completed|HDFS \w+ failed, errno|InternalError\) when calling|ServiceUnavailable\) when calling|RequestTimeout\) when calling|\(50[0-4]\) when calling|ServerBusy|IncompleteReadError|ResponseStreamingError|botocore\.exceptions\.ReadTimeout|Read timeout on endpoint URL|All datanodes .* are bad|OperationAborted\) when calling|google\.api_core\.exceptions\.(?:ServiceUnavailable|InternalServerError|GatewayTimeout|BadGateway|RetryError)|503 (?:GET|POST|PUT) https://storage|HTTP response code 50\d|StandbyException|com\.amazonaws.*Status Code: 50\d|AWS Error (?:NETWORK_CONNECTION|SLOW_DOWN|INTERNAL_FAILURE|SERVICE_UNAVAILABLE|REQUEST_TIMEOUT))"},

    // --- Other processes and the network ---
    LogRule{
        "port-in-use", Category::kPort, kLine, "",
        R"([Aa]ddress already in use|EADDRINUSE|\berrno: 98\b|\[Errno 98\]|Only one usage of each socket address|[Pp]ort \d+ (?:is )?(?:already )?(?:in use|occupied|being used|is not available|allocated)|port is already (?:in use|allocated)|server socket has failed to (?:listen|bind)|[Cc]annot (?:bind|listen) (?:to|on)|[Bb]inding port \d+ failed|[Ff]ailed to bind|[Ss]ocket \S+ already in use|No address added out of total|Could not start gRPC server)"},
    LogRule{
        "collective-timeout", Category::kCollectiveTimeout, kLine, "",
        R"(\bEI000[26]: |[Nn]otify register (?:times out|has not received)|\b(?:HCCL|RCCL|oneCCL)\b.{0,120}\btime(?:s|d)? ?-?out|[Cc]ollective operation timeout|[Mm]onitored ?[Bb]arrier|Timed out waiting \d+ms for (?:recv|send)|watchdog got stuck|Application timeout caused pair closure|HOROVOD_STALL_SHUTDOWN|Stalled? (?:tensor|ranks?).*shut|[Bb]arrier timed out|exceeded\. Exiting to ensure a consistent program state|ran for \d+ milliseconds before timing out|(?:allreduce|all_reduce|all_gather|allgather|broadcast|reduce_scatter|barrier)\S* .*timed out|NCCL (?:operation |communicator|collective).*time(?:d )?-?out|Timeout at NCCL work|Watchdog caught collective|BarrierTimeout|[Hh]eartbeat ?[Mm]onitor.*(?:timed out|stuck)|No heartbeat.*watchdog|dump signal (?:.*timeout|due to a collective)|ProcessGroupNCCL watchdog hang)"},
    LogRule{"nccl-connect", Category::kNetwork, kLine, "",
            R"((?:socketStartConnect|socketPollConnect|socketTryAccept|Call to connect|Connect to \S+|socketFinalizeConnect).*(?:failed|refused|timed out)|NET/IB.*(?:error|failed|status=)|Got completion from peer .* with (?:error|status)|transport retry counter exceeded|Bootstrap : no socket interface found|no socket interface|NET/OFI.*(?:error|fail)|ibv_\w+ failed|Unable to (?:find|open) .*network interface)"},
    LogRule{
        "peer-lost", Category::kPeerLost, kLine, "",
        R"(\brabit\b.*(?:[Aa]ll-?reduce|[Bb]roadcast|[Tt]racker|[Cc]onnect|[Rr]ecv|[Ss]ocket)\w* .*(?:[Ff]ail|lost|closed|reset|error)|rabit\S* (?:Allreduce|Broadcast)\w* failed|XGBoostError: .*(?:[Aa]llreduce|[Bb]roadcast|[Tt]racker|rabit).*(?:[Ff]ail|lost|closed|error|timed? ?out)|XGBoostError: .*/src/collective/|LightGBMError: [Ss]ocket (?:recv|send) error|\"grpc_status\": ?14\b|(?:^|\.)UnavailableError: |remote process exited or there was a network error|ncclRemoteError|[Cc]onnection closed by (?:remote )?peer|[Cc]onnection closed by remote|unhandled system error|ncclSystemError|NCCL communicator was aborted|NCCL Error 6|[Ss]ocket closed|has been shut ?down by another rank|RecvTensor.*aborted|task:\d+ is down|ExecutorLostFailure|Did the remote server shutdown or crash|failed to recv, got 0 bytes|store->get\('\d+'\) got error|another task died|The tasks have crashed|heartbeat (?:timeout|to coordination service failed)|coordination service.*(?:error|failed|unavailable|disconnect)|JAX distributed service detected fatal errors|[Rr]emote (?:process|peer) (?:exited|died|closed|is gone)|Read error \[[^\]]*\](?::\d+)?: Connection (?:reset|closed)|Remote error: |peer (?:process|rank) .*(?:exited|died|lost|disconnected)|[Ll]ost connection to (?:rank|peer|worker)|Rank \d+ .*(?:disconnected|is dead|failed to respond))"},
    LogRule{
        "ray-peer", Category::kPeerLost, kLine, "",
        R"(ActorDiedError|RayActorError|WorkerCrashedError|NodeDiedError|LocalRayletDiedError|OwnerDiedError|ObjectLostError|[Tt]he (?:actor|worker|node) died unexpectedly|[Tt]he actor is dead because|ActorUnavailableError|raylet .*died)"},
    LogRule{
        "rendezvous", Category::kNetwork, kLine, "",
        R"(RendezvousTimeoutError|RendezvousConnectionError|RendezvousClosedError|[Tt]imed out after \d+ seconds waiting for clients|\d+/\d+ clients joined|client socket has (?:timed out|failed to connect)|[Ss]ocket [Tt]imeout|DistNetworkError|connectFullMesh failed|wait timeout after \d+ms|[Rr]endezvous.*(?:timed out|timeout|failed)|[Tt]imed out.*rendezvous|TCPStore.*(?:timed out|timeout|failed)|DistStoreError)"},
    LogRule{
        "name-resolution", Category::kNetwork, kLine, "",
        R"(Name or service not known|[Tt]emporary failure in name resolution|getaddrinfo|gaierror|[Nn]ame resolution|Could not resolve host|unable to resolve host|Temporary failure resolving|[Ff]ailed to resolve|DNS (?:resolution|(?:SRV )?lookup) failed|[Uu]nknown host\b|UnknownHostException|NoBrokersAvailable|nodename nor servname|no such host|\bEAI_AGAIN\b|NameResolutionError|IPv[46] network addresses of .* cannot be retrieved)"},
    LogRule{
        "connection", Category::kNetwork, kLine, "",
        R"([Cc]onnection refused|[Cc]onnection reset|[Nn]o route to host|[Nn]etwork is unreachable|[Hh]ost is unreachable|[Cc]onnection (?:was )?timed out|[Cc]onnection (?:was )?aborted|Max retries exceeded|Read timed out|[Cc]onnect(?:ion)? ?[Tt]ime(?:d )?out|ReadTimeout|RemoteDisconnected|\b429 (?:Client Error|Too Many)|Too Many Requests|HTTP Error 429|(?:502 Bad Gateway|504 Gateway|503 Service Unavailable|50[0234] (?:Server|Client) Error|HTTP Error 50\d)|failed to connect to all addresses|Could not connect to the endpoint|EndpointConnectionError|ConnectTimeoutError|ConnectionClosedError|ServerDisconnected|Run initialization has timed out|IncompleteRead|\bwandb\.[\w.]*CommError\b|We couldn't connect to|Couldn't reach |[Cc]onnection error, and we cannot find|check your (?:internet )?connection\b|Failed to establish a new connection|UNAVAILABLE: (?:.*connect|.*[Ss]ocket|.*reset|.*closed)|StatusCode\.(?:UNAVAILABLE|DEADLINE_EXCEEDED)|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EHOSTUNREACH|\[Errno (?:104|110|111|113|101)\]|URLError|SSLEOFError|Client network socket disconnected|Connection broken|\b[Cc]onnect(?:ion)? (?:to \S+ )?failed)"},
    LogRule{
        "mpi", Category::kMpi, kLine, "",
        R"(MPI_ABORT was invoked|MPI_Abort|(?:ORTE|PRTE) has lost communication|\bORTE_ERROR_LOG\b|PRTE ERROR|PMIX ERROR|PMIx_\w+ failed|[Ff]atal error in P?MPI_|MPI_ERR_|\*\*\* MPI_ERRORS_ARE_FATAL|mpirun (?:was unable|has lost)|prterun (?:was unable|has lost)|HYD_\w+.*(?:error|failed)|hydra_pmi_proxy|ORTE daemon|(?:ORTE|PRTE) does not know how|unable to complete a TCP connection|unable to reach each other for MPI communications|mca_\w+ .*(?:failed|error)|btl_tcp_endpoint)"},
    LogRule{"too-many-files", Category::kConfiguration, kLine, "",
            R"(\[Errno 24\]|[Tt]oo many open files|\bEMFILE\b)"},
    LogRule{"duplicate-gpu", Category::kConfiguration, kLine, "Duplicate GPU detected"},
    LogRule{"mpi-slots", Category::kConfiguration, kLine, "not enough slots available"},

    // --- CUDA's libraries ---
    LogRule{
        "cuda-library", Category::kCudaLibrary, kLine, "",
        R"((?:CUBLAS|CUDNN|CUSOLVER|CUSPARSE|CUFFT|CURAND|HIPBLAS|MIOPEN|ROCBLAS)(?:_STATUS)?_(?:NOT_INITIALIZED|EXECUTION_FAILED|INTERNAL_ERROR|INVALID_VALUE|NOT_SUPPORTED|ARCH_MISMATCH|MAPPING_ERROR|BAD_PARAM|LAUNCH_FAILURE|EXEC_FAILED|SETUP_FAILED|\w*FAILED\w*|\w*ERROR\w*|StatusInternalError|StatusUnknownError|miopen\w+)|miopenStatus\w+|cuDNN error|(?:CUDNN|CUBLAS)_STATUS_SUCCESS \([1-9]\d* vs\. 0\)|cuDNN launch failure|valid cuDNN algorithm|unable to find an engine to execute|[Ff]ailed to get convolution algorithm|DNN library (?:is not found|initialization failed)|Could not create cudnn handle|[Bb]las (?:GEMM|xGEMM\w*) launch failed|cublas\w+ .*failed|[Cc]u[Bb][Ll][Aa][Ss] [Ee]rror|CUTLASS (?:Error|error)|cufft error|cuDNN Frontend error)"},
    LogRule{"nccl-cuda", Category::kCudaLibrary, kLine, "",
            R"(unhandled cuda error|ncclUnhandledCudaError)"},
    LogRule{"horovod", Category::kPeerLost, kLine, "",
            R"(HorovodInternalError|Horovod has been shut ?down)"},

    // --- Libraries and modules ---
    LogRule{
        "library", Category::kLibrary, kLine, "",
        R"(fatal error: \S+\.(?:h|hpp|hh|cuh|inc)(?:: No such file|' file not found)|Command '\[?['\"]?(?:\S*/)?(?:[\w-]+-)?(?:gcc|g\+\+|cc|c\+\+|clang|clang\+\+|nvcc|hipcc|ninja|cmake|make|ptxas|ld)(?:-[\d.]+)?['\" ].* (?:returned non-zero|died with)|nvrtc: error: failed to (?:load|open) (?:\S*builtins)|GLEW init\w* error|Missing GL version|(?:GLFW|EGL|GLX|OSMesa|OpenGL)\w*(?:Error| [Ee]rror)\b|[Ff]ailed to (?:initiali[sz]e|create|load|open) (?:an? )?(?:EGL|GLFW|GLEW|OpenGL|OSMesa|GLX)\b|(?:[Cc]annot|[Cc]ould not|[Cc]ouldn't|[Ff]ailed to|[Uu]nable to) (?:connect to|open) (?:the )?(?:X server|(?:X11 )?display)\b|NoSuchDisplayException|OpenGL (?:context|platform library)\b.{0,80}\b(?:not|fail\w*|unable)\b|cannot open shared object file|undefined symbol|symbol lookup error|error while loading shared libraries|version `?(?:GLIBC|GLIBCXX|CXXABI|LIB\w+)_[\d.]+'? not found|GLIBC(?:XX)?_[\d.]+' not found|VersionConflict|may indicate binary incompatibility|module compiled against (?:ABI|API) version|cannot be run in NumPy|not compiled with CUDA enabled|Descriptors cannot (?:not )?be created directly|is required for a normal functioning of this module, but found|operator torchvision::\w+ does not exist|compiled with different CUDA|cuDNN version incompatibility|Could not load library libcu|Unable to load NCCL library|Unable to load any of \{lib|DLL load failed|Library not loaded|multiarray failed to import|Numba needs NumPy|numba requires|jaxlib (?:version )?[\w.]+ is|[Vv]ersion mismatch|(?:is )?incompatible with (?:jax|torch|numpy|this version|the installed)|CUDA version \([\d.]+\) mismatches|CUDA_HOME (?:environment variable )?is not set|\bld: (?:cannot find -l|.*undefined reference)|wrong ELF class|file too short$|requires? \S+ ?(?:==|>=|<=|<|>|~=|version)[^:]*(?:but|found|installed|you have)|(?:but|found|have) (?:\S+ )?(?:==|version )\S+ (?:is|which is) (?:incompatible|installed)|pkg_resources\.|[Uu]nable to load (?:the )?(?:native|custom|shared) (?:op|lib)|cannot load library|not built with CUDA|without CUDA support|was not compiled with|is not compiled with|compiled without (?:GPU|CUDA)|has no kernel registered|Please (?:upgrade|downgrade|reinstall)|need to (?:upgrade|downgrade)|[Cc]ompiled? against .*version|Error building extension|[Nn]inja is required|Failed to find C compiler|No working C\+\+ compiler|CUDA Setup failed despite|[Cc]annot (?:find|load|open) .*\.so\b|No operator found for|n't buil[dt] with|[Ll]ibdevice (?:is )?not found|[Ii]nstalled \S+ version \S+ does not match|ResolutionImpossible|conflicting dependencies|No matching distribution found|Could not find a version that satisfies)"},
    LogRule{
        "library-attribute", Category::kLibrary, kException, "has no attribute",
        R"(^AttributeError: (?:partially initialized )?module '(?:numpy|np|torch|torchvision|torchaudio|torchtext|tensorflow|tf|keras|transformers|pandas|scipy|sklearn|PIL|jax|jaxlib|flax|optax|chex|haiku|cv2|datasets|accelerate|deepspeed|pytorch_lightning|lightning|lightning_fabric|peft|trl|triton|apex|flash_attn|bitsandbytes|wandb|h5py|pyarrow|google|onnx|onnxruntime|numba|matplotlib|gym|gymnasium|ray|timm|mmcv|mmengine|mmdet|detectron2|fairseq|fsspec|huggingface_hub|tokenizers|sentencepiece|xformers|megatron|transformer_engine|dgl|torch_geometric|torch_xla|setuptools|distutils|pkgutil|collections|inspect|asyncio|importlib|packaging|protobuf|pydantic|hydra|omegaconf|evaluate|librosa|soundfile|nltk|spacy|networkx|skimage|cupy|horovod|mxnet|paddle|vllm|ssl|lib|_ctypes)(?:\.[\w.]+)?' has no attribute)"},
    LogRule{
        "library-typing", Category::kLibrary, kException, "has no attribute",
        R"(^AttributeError: .*(?:_ARRAY_API|'np\.|`np\.|was removed in the NumPy|has been removed in))"},
    LogRule{"module-not-found",
            Category::kImport, kException, "", R"(^(?:[\w.]+\.)?(?:ModuleNotFoundError|PackageNotFoundError|DistributionNotFound|ImportError)\b|No module named |cannot import name |Package \S+ not found in current path|there is no package called |but it was not found in your environment|ClassNotFoundException|NoClassDefFoundError|[Cc]ould not find or load main class|[Cc]annot find module|cannot find package|can't find crate|unresolved import|\bis not installed\b|[Hh]ave you installed|[Pp]lease (?:pip )?install |(?:must|needs? to|should) be installed)"},
    LogRule{"syntax-error", Category::kSyntax, kException, "",
            R"(^(?:SyntaxError|IndentationError|TabError|syntax: |ParseError:))"},
    LogRule{
        "shell-syntax", Category::kSyntax, kLine, "yntax error",
        R"((?:syntax error near unexpected token|[Ss]yntax error: (?:"|end of file|[Uu]nterminated|unexpected)|syntax error: unexpected end of file))"},
    LogRule{"shell-quote", Category::kSyntax, kLine, "unexpected EOF while looking for matching"},

    // --- The program ---
    LogRule{
        "diverged", Category::kDiverged, kException, "",
        R"((?i)loss (?:is|=|was|became|has become|value is|:) *(?:nan|inf|not finite|nan or inf)|(?:nan|inf)(?: or inf| or nan)?(?: value)?s? (?:loss|in (?:the )?loss|detected in (?:the )?(?:loss|grad|output|logits))|\b(?:nans?|infs?|infinit\w*|non-?finite\w*)(?:[^\w\s]\S*)? (?:\w+ ){0,3}(?:loss|grad(?:ient)?s?|norm)\b|(?:loss|grad(?:ient)?s?|norm)\b.{0,60}\b(?:nan|inf|infinite|non-?finite|not finite)\b|(?:output|logit|activation|prediction|weight|param(?:eter)?|reward)s?\b.{0,20}\b(?:is|are|contains?|has|have|became|turned|was|were)(?: \w+)? (?:nans?|infs?|infinite|non-?finite)\b|unexpected result -?(?:nan|inf)\b|returned nan values in its|minimum loss scale reached|loss scale (?:is )?already at minimum|probability tensor contains either|found invalid values:?|training (?:has )?diverged|diverged\b|loss (?:is )?(?:exploding|diverg)|^FloatingPointError)"},
    LogRule{
        "diverged-stop", Category::kDiverged, kLine, "",
        R"((?i)loss is \(?(?:nan|inf|-inf)\)?,? *(?:stopping|exiting|abort|terminat|quitting)|invalid loss, terminating training|decrease (?:loss )?scale anymore\. Exiting|(?:stopping|aborting|terminating|ending|killing) (?:the )?(?:training|run|job)?.{0,40}\b(?:nan|inf|non-?finite|diverge\w*)\b|\b(?:nan|non-?finite|diverge\w*)\b.{0,60}(?:stopping|aborting|terminating|exiting|giving up)|training (?:has )?diverged)"},
    LogRule{
        "misuse", Category::kProgramming, kException, "",
        R"(Enforce failed\. Expected .*d?type\b.* but received|does not match the (?:data )?type of|modified by an inplace operation|does not require grad|backward through the graph a second time|Expected all tensors to be on the same device|Expected to have finished reduction in the prior iteration|Boolean value of Tensor|expected scalar type|(?:must|to) have the same dtype|should be the same$|requires grad\. Use tensor\.detach|grad can be implicitly created only|finished its bootstrapping phase|Cannot re-initialize CUDA in forked subprocess|Tracer(?:Array|Bool|Integer)ConversionError|ConcretizationTypeError|UnexpectedTracerError|leaf Variable that requires grad|not implemented for '|result type \w+ can't be cast|Index(?:Put)? .*same dtype|Expected object of (?:scalar type|device type)|Expected tensor for argument|Could not run '\S+' with arguments from|object has no attribute|takes \d+ positional arguments?|No active exception to reraise|dictionary changed size during iteration|cannot unpack|object '\S+' not found|could not find function|unbound local|Found dtype \w+ but expected \w+|expected \w+ (?:but|to have).*dtype|mark(?:ed)? a variable ready only once|Leaking|context has already been set|Can't (?:get|pickle) |cannot pickle)"},
    LogRule{
        "programming", Category::kProgramming, kType, "",
        R"(^(?:NameError|UnboundLocalError|AttributeError|TypeError|NotImplementedError|RecursionError|OverflowError|ZeroDivisionError|[\w.]*TorchDynamo\w*|torch\._dynamo\.exc\.\w+|(?:[\w.]+\.)?(?:CompilationError|CompileException)|(?:[\w.]+\.)?BackendCompilerFailed|[\w.]*FrozenInstanceError|UndefVarError|UndefKeywordError|UndefRefError|MethodError|BoundsError|ArgumentError|DomainError|InexactError|runtime error|assignment to entry in nil map|index out of bounds|attempt to \w+ with overflow|java\.lang\.(?:NullPointer|ArrayIndexOutOfBounds|IndexOutOfBounds|ClassCast|Arithmetic)Exception)\b)"},
    LogRule{
        "hydra", Category::kConfiguration, kLine, "",
        R"(^(?:\xe2\x9c\x98 )?Config validation error|^(?:Could not override '|Could not load '|Could not append to config|Key '\S+' (?:is not in struct|not in)|In '.*': Could not find '|Missing mandatory value: |Cannot find primary config|Primary config (?:module|directory) not found|You must specify '|Could not find '|Error merging ')|ConfigAttributeError|ConfigKeyError|MissingMandatoryValue|InterpolationKeyError|MissingConfigException|ConfigCompositionException|ConfigTypeError|Unsupported interpolation type|^(?:\xe2\x9c\x98 )?Invalid config override|: unbound variable$|: parameter (?:null or )?not set$)"},
    LogRule{
        "configuration", Category::kConfiguration, kException, "", R"((?:cudaSuccess \(|(?i:\bcuda (?:runtime |driver )?(?:error|failure)(?: code)?:? ?[=(]?))(?:10|101)\b|invalid device ordinal|is_available\(\) is False|[Ii]nsufficient (?:cluster )?resources\b|(?:[Nn]o available node types?|[Nn]o nodes?) can fulfil|[Rr]equest\w* (?:is )?infeasible|(?:should|must|has to|needs? to) be specified|No available kernel\. Aborting execution|MisconfigurationException|DeepSpeedConfigError|[Ee]nvironment variable \S+ (?:expected|is not set|must be set|not set)|process group has not been initialized|[Ww]orld[_ ]size|(?:must|should) be (?:divisible|a multiple|one of|between|positive|greater|less|in )|is not divisible|[Uu]nknown (?:\w+ )?(?:style|option|parameter|key|config\w*|setting|argument|model|optimizer|scheduler|loss|dataset|backend)|[Ii]nvalid (?:config\w*|value|parameter|setting|option|choice|argument)|[Uu]nsupported (?:value|option|config\w*|model|backend|precision)|[Uu]nexpected (?:key|config)|[Mm]issing (?:required )?(?:key|field|config\w*|parameter|setting)|yaml\.|ScannerError|toml\w*\.|[Vv]alidation errors? for|ValidationError|yaml-cpp: error|jsonschema|[Tt]riton Error .*out of resource|out of resource: shared memory)"},
    LogRule{
        "file-missing", Category::kInputMissing, kException, "",
        R"(^(?:FileNotFoundError|NotADirectoryError|IsADirectoryError)\b|\[Errno 2\]|No such file or directory|(?:^|\.)NotFoundError:|FileNotFoundException|(?:[Ee]rror|[Ff]ailed|[Cc]ould not|[Cc]annot|[Uu]nable)(?: to)? open(?:ing)? (?:\w+ )*file\b)"},
    LogRule{
        "no-such-file", Category::kInputMissing, kLine, "",
        R"(^(?:Error:? )?(?:[Cc]ould(?: not|n't)|[Cc]annot|[Cc]an't|[Uu]nable to|[Ff]ailed to|Error) (?:open|opening|find|access) (?:\w+ ){0,4}(?:file:? )?['"]?[\w/.-]*[./]\w|^(?:File|Directory|Path|Folder|Data ?set|Dataset directory) \S+ (?:does not exist|doesn't exist|not found|is missing)|: failed to open \w+ file |[Nn]o such file or directory|FileNotFoundError|FileNotFoundException|cannot (?:stat|access) ')"},

    LogRule{
        "values", Category::kConfiguration, kType, "",
        R"(^(?:KeyError|IndexError|ValueError|AssertionError|(?:[\w.]+\.)?InvalidArgumentError|configparser\.\w+|argparse\.ArgumentTypeError|FileExistsError)\b)"},
    // Hydra wraps the error of the object that it makes.
    LogRule{"hydra-object", Category::kConfiguration, kType, "InstantiationException"},
    // These libraries have one type of error, mostly for parameters.
    LogRule{"boosting", Category::kConfiguration, kType, "",
            R"(^(?:[\w.]+\.)?(?:LightGBMError|XGBoostError|CatBoostError)\b)"},

    // --- Exception classes that a program defines, by the words in their names ---
    LogRule{
        "own-configuration", Category::kConfiguration, kType, "",
        R"(^(?:\w+\.)*(?:[A-Z]\w*)?(?:(?:Missing|Invalid|Unknown|Bad|Conflicting|Unsupported)(?:Config|Setting|Param|Option|Hyper|EnvVar|EnvironmentVar|Field|Flag)\w*|(?:Config|Configuration|Settings?|Param|Params|Parameters?|Options?|Hyperparameters?|Hparams?|Recipe)(?:Missing|NotFound|Invalid|Validation|Value|Mismatch|Conflict|Unknown|Type|Key)?(?:Error|Exception))(?::|$))"},
    LogRule{
        "own-barrier", Category::kCollectiveTimeout, kType, "",
        R"(^(?:\w+\.)*(?:[A-Z]\w*)?(?:Missing|Lost|Absent|Timeout|TimedOut|Straggler|Stalled|Stall|Hung|Hang|Barrier|Rendezvous)(?:[A-Z]\w*)?: .*(?:\b(?:ranks?|peers?|workers?|participants?|replicas?|members?)\b.*(?i:\b(?:barrier|all-?_?reduce|all-?_?gather|sync\w*|collective|(?:waited|waiting|within) (?:for )?\d+(?:\.\d+)? ?(?:m?s|sec\w*|min\w*))\b)|(?i:\b(?:barrier|all-?_?reduce|all-?_?gather|sync\w*|collective|(?:waited|waiting|within) (?:for )?\d+(?:\.\d+)? ?(?:m?s|sec\w*|min\w*))\b).*\b(?:ranks?|peers?|workers?|participants?|replicas?|members?)\b))"},
    LogRule{
        "own-peer", Category::kPeerLost, kType, "",
        R"(^(?:\w+\.)*(?:[A-Z]\w*)?(?:Rank|Peer|Worker|Replica|Member|Learner|Actor|Trainer)(?:Is)?(?:Lost|Died|Dead|Death|Gone|Left|Crashed|Crash|Disconnected|Unreachable|Failure|Failed)(?:[A-Z]\w*)?(?::|$))"},
    LogRule{
        "own-diverged", Category::kDiverged, kType, "",
        R"(^(?:\w+\.)*(?:[A-Z]\w*)?(?:Exploded|Exploding|Explosion|Diverged|Divergence|Diverging|NaNs?|Nans?|NonFinite|NotFinite|Infinite|Unstable|Instability|Spike|BlewUp|Blowup)(?:[A-Z]\w*)?: .*(?i:\b(?:loss|losses|grad\w*|norm|gnorm|reward|nans?|inf|logits?|activations?|perplexity|weights?)\b))"},
    LogRule{
        "own-corrupt", Category::kInputCorrupt, kType, "",
        R"(^(?:\w+\.)*(?:[A-Z]\w*)?(?:Schemas?(?:Drift|Mismatch|Violation|Validation|Invalid|Check|Change\w*|Errors?)|Corrupt\w*|Poisoned|Malformed|Decode|Decoding|Undecodable|Unreadable|Truncated|Garbled|Checksum|Crc|CRC|Digest|(?:Bad|Broken|Invalid|Damaged)(?:Record|Sample|Row|Shard|Batch|Image|Data|Input|Header|Frame|Line)|(?:Record|Row|Line|Sample|Shard|Header)(?:Parse|Format|Invalid|Damaged|Broken)|DataQuality|DataIntegrity|DataValidation)(?:[A-Z]\w*)?(?::|$))"},
    LogRule{
        "own-missing", Category::kInputMissing, kType, "",
        R"((?:^(?:\w+\.)*(?:[A-Z]\w*)?(?:Missing|NotFound|NotPresent|Absent|DoesNotExist|Nonexistent|NoSuch\w+)(?:[A-Z]\w*)?:.*[\s'\"=(](?:\.{0,2}/[\w.-]+|(?:s3a?|gs|gcs|hdfs|abfss?|wasbs?|oss|cos|az|dbfs|file)://|[\w./-]+\.(?:parquet|jsonl?|csv|tsv|np[yz]|bin|tar|zip|h5|hdf5|arrow|tfrecords?|pth?|ckpt|safetensors|txt|idx|jpe?g|png|wav|flac|mp4|gz|zst|lmdb|mds|pkl)\b)))"},
    LogRule{
        "own-permission", Category::kPermission, kException, "40",
        R"((?i)\b40[13]\b.{0,30}(?:unauthori[sz]ed|denied|rejected|forbidden|not (?:authori[sz]ed|permitted))|(?:unauthori[sz]ed|refused|denied|rejected|forbidden|not (?:authori[sz]ed|permitted)).{0,60}(?:\(|\b(?:with|status|code|http|error)[ :=]+)40[13]\b)"},

    // --- The platform, as other schedulers report it ---
    LogRule{
        "time-limit", Category::kDeadline, kLine, "",
        R"(DUE TO TIME LIMIT|active longer than specified deadline|exceeded its (?:active )?deadline|[Ww]all ?time (?:limit )?exceeded|timeout: sending signal TERM to command)"},
    LogRule{
        "preemption", Category::kPreempted, kLine, "",
        R"(DUE TO PREEMPTION|[Pp]reempted (?:in order )?to (?:admit|accommodate)|[Pp]reempted by)"},
    LogRule{"node-failure", Category::kEvicted, kLine, "",
            R"(DUE TO NODE FAILURE|[Nn]ode was low on resource|imminent node shutdown)"},

    // --- Signals ---
    LogRule{
        "segfault", Category::kSegfault, kLine, "",
        R"(Segmentation fault|SIGSEGV|[Ss]ignal:? 11\b|segfault at|(?:exit ?code *[:=]? *|status failed .*code )-11\b|return code = -11\b|(?:killed|died) (?:by|with|from) signal:? (?:Segmentation|11)|code(?:=| )139\b|Fatal signal 11|EXCEPTION_ACCESS_VIOLATION)"},
    LogRule{"illegal-instruction", Category::kAbort, kLine, "",
            R"(Illegal instruction|SIGILL|[Ss]ignal:? 4\b|(?:exit ?code *[:=]? *|status failed .*code )-4\b|return code = -4\b)",
            kOnOtherMachines},
    LogRule{
        "arithmetic", Category::kAbort, kLine, "",
        R"(Floating point exception|SIGFPE|[Ss]ignal:? 8\b|(?:exit ?code *[:=]? *|status failed .*code )-8\b|return code = -8\b)",
        kArithmetic},
    LogRule{
        "abort", Category::kAbort, kLine, "",
        R"(Aborted \(core dumped\)|^Aborted$|: +\d+ Aborted\b|SIGABRT|[Ss]ignal:? 6\b|(?:exit ?code *[:=]? *|status failed .*code )-6\b|return code = -6\b|Fatal Python error: Aborted|terminate called|libc\+\+abi: terminating|double free or corruption|free\(\): invalid|malloc\(\): |corrupted (?:size|double-linked)|munmap_chunk\(\)|killed by signal: Aborted|stack smashing detected|buffer overflow detected|pure virtual method called|: Assertion `.*' failed|(?:^|\] )Check fail(?:ed|ure)|realloc\(\): invalid|malloc_consolidate|heap corruption|Fatal Python error: )"},
    LogRule{"interrupted", Category::kKilled, kLine, "KeyboardInterrupt", "", kByTheUser},
    LogRule{
        "killed", Category::kKilled, kLine, "",
        R"(^Killed$|: +\d+ Killed\b|SIGKILL|[Ss]ignal:? (?:9|15)\b|(?:exit ?code *[:=]? *|status failed .*code )-(?:9|15)\b|return code = -(?:9|15)\b|got signal: (?:1|2|9|10|12|15)\b|[Rr]eceived (?:signal )?SIGTERM|SIGTERM received|^Terminated$|: +\d+ Terminated\b|killed by signal: Terminated|CANCELLED AT|[Cc]aught (?:signal )?SIGTERM|signal SIGTERM)"},
};
// clang-format on

}  // namespace

std::span<const LogRule> LogRules() { return kRules; }

bool CountsAfter(const LogRule& rule, std::string_view before) {
  switch (rule.category) {
    case Category::kProgramming:
    case Category::kConfiguration:
    case Category::kShape:
    case Category::kCheckpointContent:
    case Category::kLibrary:
    case Category::kImport:
      return true;
    default:
      break;
  }
  static const re2::RE2 type(R"((\w*(?:Error|Exception|Interrupt|Exit))\b[:(])", re2::RE2::Latin1);
  static constexpr std::array<std::string_view, 7> kOfCode = {
      "KeyError",          "NameError",         "TypeError", "AttributeError",
      "UnboundLocalError", "ZeroDivisionError", "IndexError"};
  re2::StringPiece rest(before.data(), before.size());
  re2::StringPiece last;
  while (re2::RE2::FindAndConsume(&rest, type, &last)) {
  }
  return std::find(kOfCode.begin(), kOfCode.end(), std::string_view(last.data(), last.size())) ==
         kOfCode.end();
}

const LogRule* LogRuleNamed(std::string_view name) {
  const auto* const found = std::find_if(kRules.begin(), kRules.end(),
                                         [name](const LogRule& rule) { return rule.name == name; });
  return found == kRules.end() ? nullptr : found;
}

}  // namespace synergy
