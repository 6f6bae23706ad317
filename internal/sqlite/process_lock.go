package sqlite

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// process tells other processes that share the database that this one is alive. It holds an SQLite lock on a small
// file beside the database, which the operating system releases when the process ends in any way. So the work of a
// living process is not mistaken for abandoned work, or vice versa.
type process struct {
	id   string
	file string
	pool *sql.DB
	conn *sql.Conn
}

const (
	presenceInfix  = ".process-"
	presenceSettle = time.Minute // younger files may not be locked yet
)

func presenceFile(database, id string) string { return database + presenceInfix + id }

// registerProcess creates and locks this process's file, and removes those of dead processes.
func registerProcess(ctx context.Context, database string) (*process, error) {
	id := strings.ToLower(rand.Text()[:10])
	p := &process{id: id, file: presenceFile(database, id)}
	if err := p.lock(ctx); err != nil {
		return nil, errors.Join(err, p.unregister())
	}
	old, err := filepath.Glob(globQuote(database) + presenceInfix + "*")
	if err != nil {
		return nil, errors.Join(err, p.unregister())
	}
	for _, file := range old {
		info, err := os.Stat(file)
		if err == nil && file != p.file && time.Since(info.ModTime()) > presenceSettle {
			isAlive(ctx, file)
		}
	}
	return p, nil
}

// globQuote escapes the special characters of [filepath.Glob].
func globQuote(path string) string {
	if os.PathSeparator == '\\' {
		return path // Windows has no escapes: such paths do not match, and their files stay
	}
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

func (p *process) lock(ctx context.Context) error {
	if err := create(p.file); err != nil {
		return err
	}
	var err error
	if p.pool, err = connect(p.file, 1, 0, "journal_mode(memory)"); err != nil {
		return err
	}
	if p.conn, err = p.pool.Conn(ctx); err != nil {
		return err
	}
	_, err = p.conn.ExecContext(ctx, "BEGIN EXCLUSIVE")
	return err
}

// unregister removes this process's file.
func (p *process) unregister() error {
	var errs []error
	if p.conn != nil {
		errs = append(errs, p.conn.Close())
	}
	if p.pool != nil {
		errs = append(errs, p.pool.Close())
	}
	if err := os.Remove(p.file); !errors.Is(err, fs.ErrNotExist) {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// isAlive reports whether the process that owns file is alive, and removes the file if it is not. If in doubt it
// returns true, so that the process's work is left alone.
func isAlive(ctx context.Context, file string) bool {
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return false
	}
	p := &process{file: file}
	if err := p.lock(ctx); err != nil {
		if p.conn != nil {
			_ = p.conn.Close()
		}
		if p.pool != nil {
			_ = p.pool.Close()
		}
		return true
	}
	return p.unregister() != nil
}
