package webm

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
)

// Film is a parsed WebM file. Its frames stay in the underlying reader.
type Film struct {
	Chapters []Chapter

	from   io.ReaderAt
	began  time.Time
	frames []place
}

// place is the position of a frame.
type place struct {
	at       time.Duration
	key      bool
	from, to int64
}

// maxElement limits what is read into memory at once: a cluster has at most two seconds of video.
const maxElement = 64 << 20

// Read parses a file of the given size. If it is truncated, Read returns what is there.
func Read(from io.ReaderAt, size int64) (*Film, error) {
	f := &Film{from: from}
	for at := int64(0); at < size; {
		id, body, length, err := head(from, at)
		if err != nil {
			break // the file is truncated here
		}
		next := at + body
		if id == idSegment {
			at = next
			continue
		}
		if length < 0 || next+length > size {
			break
		}
		if id == idCluster || id == idChapters || id == idInfo {
			if length > maxElement {
				return nil, errors.New("read a film: an element is too large")
			}
			b := make([]byte, length)
			if _, err := from.ReadAt(b, next); err != nil {
				return nil, fmt.Errorf("read a film: %w", err)
			}
			f.take(id, b, next)
		}
		at = next + length
	}
	if len(f.frames) == 0 {
		return nil, errors.New("read a film: it has no frames")
	}
	return f, nil
}

// head parses the element header at an offset and returns the lengths of the header and of the body; -1 means up to
// the end.
func head(from io.ReaderAt, at int64) (id uint32, bytes, length int64, err error) {
	var b [12]byte
	n, err := from.ReadAt(b[:], at)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, 0, 0, err
	}
	name, k := readVint(b[:n], true)
	size, m := readVint(b[k:n], false)
	if k == 0 || k > 4 || m == 0 {
		return 0, 0, 0, io.ErrUnexpectedEOF
	}
	if size >= 1<<48 {
		return uint32(name), int64(k + m), -1, nil //nolint:gosec // of four bytes
	}
	return uint32(name), int64(k + m), int64(size), nil //nolint:gosec // as above
}

func (f *Film) take(id uint32, body []byte, at int64) {
	var base time.Duration
	children(body, func(child uint32, b []byte) {
		switch {
		case id == idInfo && child == idDate:
			f.began = epoch.Add(time.Duration(uintOf(b))) //nolint:gosec // as it was written
		case id == idChapters && child == idEdition:
			children(b, func(_ uint32, atom []byte) { f.Chapters = append(f.Chapters, chapterOf(atom)) })
		case child == idTimestamp:
			base = time.Duration(uintOf(b)) * time.Millisecond //nolint:gosec // as it was written
		case child == idSimpleBlock && len(b) > 4:
			from := at + int64(cap(body)-cap(b)) + 4 // b is a slice of body: the capacities give its offset
			after := time.Duration(binary.BigEndian.Uint16(b[1:])) * time.Millisecond
			f.frames = append(f.frames, place{base + after, b[3]&0x80 != 0, from, from + int64(len(b)-4)})
		}
	})
}

func chapterOf(atom []byte) (c Chapter) {
	children(atom, func(id uint32, b []byte) {
		switch id {
		case idChapterUID:
			c.ID = uintOf(b)
		case idChapterStart:
			c.At = time.Duration(uintOf(b)) //nolint:gosec // as it was written
		case idChapterDisplay:
			children(b, func(id uint32, b []byte) {
				if id == idChapterTitle {
					c.Title = string(b)
				}
			})
		}
	})
	return c
}

// End returns the time of the last frame.
func (f *Film) End() time.Duration { return f.frames[len(f.frames)-1].at }

// ErrTooLarge says that not even the last part of a film fits the limit.
var ErrTooLarge = errors.New("no part of the film is small enough")

// WriteClip writes the end of the film as a new file, beginning with the last key frame that is at least last before
// the end. If the clip would exceed maxBytes, it begins with a later key frame.
func (f *Film) WriteClip(to io.WriteSeeker, last time.Duration, maxBytes int64) error {
	const overhead, perFrame = 4 << 10, 48
	begin, bytes := -1, int64(overhead)
	for i, p := range slices.Backward(f.frames) {
		if bytes += p.to - p.from + perFrame; bytes > maxBytes {
			break
		}
		if p.key {
			begin = i
			if p.at <= f.End()-last {
				break
			}
		}
	}
	if begin < 0 {
		return ErrTooLarge
	}
	start := f.frames[begin].at
	w := NewWriter(to, f.began.Add(start))
	for _, p := range f.frames[begin:] {
		data := make([]byte, p.to-p.from)
		if _, err := f.from.ReadAt(data, p.from); err != nil {
			return fmt.Errorf("read a film: %w", err)
		}
		if err := w.Add(Frame{At: p.at - start, Key: p.key, Data: data}); err != nil {
			return err
		}
	}
	for _, c := range f.Chapters {
		if c.At >= start {
			c.At -= start
			w.AddChapter(c)
		}
	}
	return w.Finish(f.End() - start)
}
