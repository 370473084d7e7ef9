package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"testing"

	"github.com/cellmode/cellmode/toolcatalog"
)

var update = flag.Bool("update", false, "write what the example prints to testdata/output.txt")

func TestRun(t *testing.T) {
	const golden = "testdata/output.txt"
	var got bytes.Buffer
	if err := run(t.Context(), &got); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(golden, got.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("the example prints (run the test with -update if that is right)\n%s", got.Bytes())
	}
}

func TestScheduler(t *testing.T) {
	t.Parallel()
	catalog, err := toolcatalog.New([]*toolcatalog.Tool{newScheduler().tool()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		input, result string
		code          toolcatalog.ErrorCode
	}{
		{`{"action":"add","name":"report"}`, `{"id":6,"name":"report","state":"running"}`, ""},
		{`{"action":"get","id":6}`, `{"id":6,"name":"report","state":"running","runs":1}`, ""},
		{`{"action":"restart","ids":[1,6]}`, ``, toolcatalog.CodeInvalidInput}, // 6 did not fail, so 1 is not restarted either
		{`{"action":"get","id":1}`, `{"id":1,"name":"nightly backup","state":"failed","runs":30,"lastError":"connection reset"}`, ""},
		{`{"action":"restart","ids":[1]}`, `{"count":1}`, ""},
		{`{"action":"list","state":"failed"}`, `{"jobs":[{"id":3,"name":"import prices","state":"failed"},{"id":4,"name":"rotate logs","state":"failed"}]}`, ""},
		{`{"action":"get","id":99}`, ``, toolcatalog.CodeInvalidInput},
		{`{"action":"list","id":1}`, ``, toolcatalog.CodeInputContract},
		{`{"action":"pause"}`, ``, toolcatalog.CodeInputContract},
	} {
		result, err := catalog.Call(context.Background(), "scheduler", json.RawMessage(tt.input))
		code := toolcatalog.ErrorCode("")
		if failure, ok := errors.AsType[*toolcatalog.CallError](err); ok {
			code = failure.Code
		}
		if string(result) != tt.result || code != tt.code {
			t.Errorf("%s: got %s, %v", tt.input, result, err)
		}
	}
}
