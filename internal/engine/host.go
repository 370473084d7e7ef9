package engine

import (
	"context"
	"errors"
	"time"

	"github.com/cellmode/cellmode/internal/engine/harden"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

const (
	wasiModule = "wasi_snapshot_preview1"
	badFile    = 8 // EBADF: the engine's libc takes any other refusal for a reason to exit
)

var errExit = errors.New("engine called exit")

// defineHost gives the engine its imports: a clock that answers, files and sockets that do not
// exist, an exit that ends the VM, and the one function by which the guest reaches the host.
func defineHost(ctx context.Context, runtime wazero.Runtime, module wazero.CompiledModule) error {
	wasi := runtime.NewHostModuleBuilder(wasiModule)
	for _, f := range module.ImportedFunctions() {
		from, name, _ := f.Import()
		if from != wasiModule {
			continue
		}
		answer := refuse
		switch name {
		case "clock_time_get":
			answer = clock
		case "proc_exit":
			answer = exit
		}
		wasi.NewFunctionBuilder().WithGoModuleFunction(answer, f.ParamTypes(), f.ResultTypes()).Export(name)
	}
	if _, err := wasi.Instantiate(ctx); err != nil {
		return err
	}
	i32, i64 := api.ValueTypeI32, api.ValueTypeI64
	_, err := runtime.NewHostModuleBuilder("env").NewFunctionBuilder().
		WithGoModuleFunction(api.GoModuleFunc(hostCall), []api.ValueType{i32, i64, i32, i32}, []api.ValueType{i64}).
		Export("jsFunctionProxy").Instantiate(ctx)
	return err
}

var (
	refuse api.GoModuleFunc = func(_ context.Context, _ api.Module, stack []uint64) { stack[0] = badFile }
	exit   api.GoModuleFunc = func(context.Context, api.Module, []uint64) { panic(errExit) }
	clock  api.GoModuleFunc = func(ctx context.Context, m api.Module, stack []uint64) {
		now := time.Now()
		if ctx.Value(vmKey{}).(*VM).preparing { // what it leaves in an image must not tell one image from another
			now = time.Unix(1, 0)
		}
		stack[0] = badFile
		if m.Memory().WriteUint64Le(uint32(stack[2]), uint64(now.UnixNano())) {
			stack[0] = 0
		}
	}
)

// hostCall is env.jsFunctionProxy(ctx, this, argc, argv): the metering, the rejection tracker and
// the guest's controller all come this way.
func hostCall(ctx context.Context, _ api.Module, stack []uint64) {
	vm := ctx.Value(vmKey{}).(*VM)
	promise, argc, argv := Value(stack[1]), int32(stack[2]), uint32(stack[3])
	stack[0] = uint64(Undefined)
	switch argc {
	case harden.ArgcTick:
		vm.check()
	case harden.ArgcRejected:
		vm.rejected(promise)
	case harden.ArgcNowHandled:
		vm.handled(promise)
	default:
		var args [maxArgs]Value
		for i := range min(int(argc), maxArgs) {
			v, err := vm.u64(argv + uint32(8*i))
			if err != nil {
				panic(err)
			}
			args[i] = Value(v)
		}
		if vm.host != nil {
			stack[0] = uint64(vm.host(args[:min(int(argc), maxArgs)]))
			vm.check() // the work that the guest has the host do is on the guest's time
		}
	}
}
