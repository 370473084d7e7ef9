package guest_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/cellmode/cellmode/internal/engine"
	"github.com/cellmode/cellmode/internal/guest"
)

func TestID(t *testing.T) {
	dir, _ := os.UserCacheDir()
	e, err := engine.New(context.Background(), &engine.Options{CacheDir: dir + "/cellmode"})
	if err != nil {
		t.Fatal(err)
	}
	for _, web := range []bool{false, true, false, true} {
		img, err := guest.NewImage(context.Background(), e, web)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println(web, img.ID(), img.Size())
	}
}
