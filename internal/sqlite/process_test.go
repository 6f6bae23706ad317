package sqlite_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"clank/internal/sqlite"
	"clank/internal/test/check"
	"clank/llm"
	"clank/sessions"
)

// childEnv names the database that this test binary works at when it is run as a second process.
const childEnv = "SQLITE_TEST_CHILD_DB"

func TestMain(m *testing.M) {
	if path := os.Getenv(childEnv); path != "" {
		if err := child(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(check.Main(m))
}

// child saves steps of a task, and says after each which one is saved, until its standard input ends or it is killed.
func child(path string) error {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go func() {
		io.Copy(io.Discard, os.Stdin) // only its end matters
		stop()
	}()
	db, err := sqlite.Open(ctx, path)
	if err != nil {
		return err
	}
	r, s := task("child", "child", sessions.TaskRunning), session("child")
	for n := 1; ctx.Err() == nil; n++ {
		r.Steps, s.Steps = n, n
		step := sessions.Step{
			N: n, Kind: sessions.StepAct, Phase: sessions.PhaseDone, At: noon,
			View: &llm.Image{MediaType: "image/png", Data: make([]byte, 30_000)},
		}
		if err := db.SaveStep(ctx, r, s, step, 3); err != nil && ctx.Err() == nil {
			return err
		}
		fmt.Fprintln(os.Stdout, n)
	}
	return db.Close()
}

// startChild starts a second process and returns a function that waits until it
// has saved n more steps, or has ended, and tells how many it has.
func startChild(t *testing.T, path string) (cmd *exec.Cmd, stdin io.Closer, saved func(n int) int) {
	t.Helper()
	cmd = exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+path)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	check.Must(t, err)
	out, err := cmd.StdoutPipe()
	check.Must(t, err)
	check.Must(t, cmd.Start())
	r := bufio.NewReader(out)
	return cmd, in, func(n int) (seen int) {
		for seen < n {
			if _, err := r.ReadString('\n'); err != nil {
				return seen
			}
			seen++
		}
		return seen
	}
}

func TestAKilledProcessLosesNothingThatWasSaved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "clank.db")
	cmd, _, saved := startChild(t, path)
	saved(25)
	check.Must(t, cmd.Process.Kill())
	_ = cmd.Wait() // it was killed

	db := open(t, path)
	steps, err := db.Steps(t.Context(), "child")
	check.Must(t, err)
	if len(steps) < 25 {
		t.Errorf("%d steps are there, want at least 25", len(steps))
	}
	r, err := db.Task(t.Context(), "child")
	if err != nil || r.Steps != len(steps) {
		t.Errorf("the task has %d steps, %d were saved, %v", r.Steps, len(steps), err)
	}
	if v, err := db.View(t.Context(), "child", len(steps)); err != nil || len(v.Data) != 30_000 {
		t.Errorf("the last view has %d bytes, %v", len(v.Data), err)
	}

	tasks, parked, err := db.Recover(t.Context(), "it ended", noon)
	if err != nil || tasks != 1 || parked != 1 {
		t.Errorf("recovered %d tasks and %d sessions, %v, want 1 and 1", tasks, parked, err)
	}
	left, err := filepath.Glob(path + ".process-*")
	if err != nil || len(left) != 1 {
		t.Errorf("presence files: %v, want this process's alone", left)
	}
}

func TestTwoProcessesShareTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "clank.db")
	cmd, stdin, saved := startChild(t, path)
	saved(1)
	db := open(t, path)
	var wg sync.WaitGroup
	wg.Go(func() {
		check.Equal(t, "saved(20)", saved(20), 20)
	})
	for i := range 20 {
		id := fmt.Sprintf("mine%d", i)
		check.Must(t, db.SaveTask(t.Context(), task(id, id, sessions.TaskRunning), session(id)))
	}
	wg.Wait()

	tasks, parked, err := db.Recover(t.Context(), "it ended", noon)
	if err != nil || tasks != 20 || parked != 20 {
		t.Errorf("recovered %d tasks and %d sessions, %v, want 20 of this process and none of the living one", tasks, parked,
			err)
	}
	if r, err := db.Task(t.Context(), "child"); err != nil || r.State != sessions.TaskRunning {
		t.Errorf("the other process's task is %s, %v, want running", r.State, err)
	}

	check.Must(t, stdin.Close())
	saved(1 << 30)            // until it ends
	check.Must(t, cmd.Wait()) // the other process
	tasks, _, err = db.Recover(t.Context(), "it ended", noon)
	if err != nil || tasks != 1 {
		t.Errorf("after its end recovered %d tasks, %v, want 1", tasks, err)
	}
}

func TestManyOpenANewDatabaseAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "clank.db")
	var wg sync.WaitGroup
	for i := range 6 {
		wg.Go(func() {
			db, err := sqlite.Open(t.Context(), path)
			if err != nil {
				t.Errorf("open: %v", err)
				return
			}
			if err := db.SaveSession(t.Context(), session(strconv.Itoa(i))); err != nil {
				t.Errorf("save: %v", err)
			}
			if err := db.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
		})
	}
	wg.Wait()
	all, err := open(t, path).Sessions(t.Context(), sessions.SessionQuery{})
	if err != nil || len(all) != 6 {
		t.Errorf("%d sessions, %v, want 6", len(all), err)
	}
}
