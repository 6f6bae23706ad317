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

// process is this process as others that share the database see it. While it lives it holds SQLite's lock on a small
// file of its own beside the database, which the operating system frees when it dies, however it dies. So nobody
// mistakes the work of the living for left behind, or the other way round.
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

// registerProcess makes the presence of this process known, and tidies up after dead ones.
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

// globQuote escapes what [filepath.Glob] would take for a pattern.
func globQuote(path string) string {
	if os.PathSeparator == '\\' {
		return path // has no escapes; such names are not found, and their files stay
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

// unregister ends the presence.
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

// isAlive reports whether the process that file belongs to is alive. The file of
// a dead one is removed. In doubt it is alive: its work is left alone.
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
