package webm

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"time"
)

// Frame is a VP8 frame (RFC 6386).
type Frame struct {
	At   time.Duration // since the start of the film
	Key  bool
	Data []byte
}

// Chapter is a chapter of a film with a title.
type Chapter struct {
	ID    uint64 // unique within the film, not 0
	At    time.Duration
	Title string
}

// clusterFor is the length of a cluster, which is buffered in memory before it is written.
const clusterFor = 2 * time.Second

// epoch is the epoch of Matroska dates.
var epoch = time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC)

// Space reserved for elements that are written at the end, in bytes.
const (
	headRoom     = 96 // for the positions of the index and the chapters
	durationRoom = 11
)

// Writer writes one WebM file. It is not safe for concurrent use.
type Writer struct {
	to       io.WriteSeeker
	began    time.Time
	segment  int64 // offset of the segment's data
	written  int64 // bytes
	duration int64 // offset of the duration
	cluster  []Frame
	clusters []cue
	chapters []Chapter
	last     time.Duration
}

type cue struct {
	at    time.Duration
	place uint64 // offset in the segment
	key   bool
}

// NewWriter returns a writer for an empty file. began is the date stored in it.
func NewWriter(to io.WriteSeeker, began time.Time) *Writer { return &Writer{to: to, began: began} }

// Size returns the number of bytes written so far.
func (w *Writer) Size() int64 { return w.written }

// begin writes the elements before the first cluster.
func (w *Writer) begin(width, height uint64) error {
	head := element(idEBML, number(idVersion, 1), number(idReadVersion, 1), number(idMaxIDLength, 4),
		number(idMaxSizeLength, 8), text(idDocType, "webm"), number(idDocTypeVersion, 4),
		number(idDocTypeReadVersion, 2))
	head = append(append(head, encodeID(idSegment)...), unknownSize...)
	w.segment = int64(len(head))
	head = append(head, void(headRoom)...)
	date := binary.BigEndian.AppendUint64(nil, uint64(w.began.Sub(epoch))) //nolint:gosec // signed is written like this
	head = append(head, element(idInfo, number(idTimestampScale, uint64(time.Millisecond)), text(idMuxingApp, "clank"),
		text(idWritingApp, "clank"), element(idDate, date), void(durationRoom))...)
	w.duration = int64(len(head)) - durationRoom
	head = append(head, element(idTracks, element(idTrackEntry, number(idTrackNumber, 1), number(idTrackUID, 1),
		number(idTrackType, 1), number(idLacing, 0), text(idCodec, "V_VP8"),
		element(idVideo, number(idWidth, width), number(idHeight, height))))...)
	return w.write(head)
}

// place returns the current offset in the segment.
func (w *Writer) place() uint64 { return uint64(w.written - w.segment) } //nolint:gosec // it grows

func (w *Writer) write(b []byte) error {
	n, err := w.to.Write(b)
	w.written += int64(n)
	if err != nil {
		return fmt.Errorf("write a film: %w", err)
	}
	return nil
}

// Add adds a frame; the first must be a key frame. Times must not decrease.
func (w *Writer) Add(f Frame) error {
	if w.written == 0 {
		width, height, err := size(f)
		if err != nil {
			return err
		}
		if err := w.begin(width, height); err != nil {
			return err
		}
	}
	f.At = max(f.At, w.last)
	w.last = f.At
	if len(w.cluster) > 0 && (f.Key || f.At-w.cluster[0].At >= clusterFor) {
		if err := w.flush(); err != nil {
			return err
		}
	}
	w.cluster = append(w.cluster, f)
	return nil
}

// size returns the size of a key frame in pixels: RFC 6386, section 9.1.
func size(f Frame) (width, height uint64, err error) {
	if !f.Key || len(f.Data) < 10 {
		return 0, 0, errors.New("write a film: it does not begin with a key frame")
	}
	side := func(b []byte) uint64 { return uint64(binary.LittleEndian.Uint16(b) & 0x3fff) }
	return side(f.Data[6:]), side(f.Data[8:]), nil
}

// flush writes the buffered frames as one cluster.
func (w *Writer) flush() error {
	if len(w.cluster) == 0 {
		return nil
	}
	first := w.cluster[0]
	parts := [][]byte{number(idTimestamp, milliseconds(first.At))}
	for _, f := range w.cluster {
		after := uint16(milliseconds(f.At) - milliseconds(first.At)) //nolint:gosec // less than clusterFor
		head := append(binary.BigEndian.AppendUint16([]byte{0x81}, after), 0)
		if f.Key {
			head[3] = 0x80
		}
		parts = append(parts, element(idSimpleBlock, head, f.Data))
	}
	w.clusters = append(w.clusters, cue{first.At, w.place(), first.Key})
	w.cluster = nil
	return w.write(element(idCluster, parts...))
}

// AddChapter adds a chapter.
func (w *Writer) AddChapter(c Chapter) { w.chapters = append(w.chapters, c) }

// Finish writes the remaining frames, the index and the chapters, and fills in their positions. The caller closes the
// file.
func (w *Writer) Finish(duration time.Duration) error {
	if w.written == 0 && len(w.cluster) == 0 {
		return errors.New("write a film: it has no frames")
	}
	if err := w.flush(); err != nil {
		return err
	}
	duration = max(duration, w.last+time.Millisecond)
	var head [][]byte
	point := func(id uint32) {
		head = append(head, element(idSeek, element(idSeekID, encodeID(id)), number(idSeekPosition, w.place())))
	}
	var index [][]byte
	for _, c := range w.clusters {
		if c.key {
			index = append(index, element(idCuePoint, number(idCueTime, milliseconds(c.at)),
				element(idCueTrackPositions, number(idCueTrack, 1), number(idCuePlace, c.place))))
		}
	}
	point(idCues)
	if err := w.write(element(idCues, index...)); err != nil {
		return err
	}
	if len(w.chapters) > 0 {
		point(idChapters)
		edition := element(idEdition, encodeChapters(w.chapters, duration)...)
		if err := w.write(element(idChapters, edition)); err != nil {
			return err
		}
	}
	seek := element(idSeekHead, head...)
	whole := binary.BigEndian.AppendUint64(nil, 1<<56|w.place())
	return errors.Join(
		w.fill(w.segment-int64(len(whole)), whole),
		w.fill(w.segment, append(seek, void(headRoom-len(seek))...)),
		w.fill(w.duration, float(idDuration, float64(milliseconds(duration)))),
	)
}

// fill overwrites reserved space at an offset.
func (w *Writer) fill(at int64, b []byte) error {
	if _, err := w.to.Seek(at, io.SeekStart); err != nil {
		return fmt.Errorf("write a film: %w", err)
	}
	if _, err := w.to.Write(b); err != nil {
		return fmt.Errorf("write a film: %w", err)
	}
	return nil
}

func encodeChapters(list []Chapter, duration time.Duration) (atoms [][]byte) {
	for i, c := range list {
		end := duration
		if i+1 < len(list) {
			end = list[i+1].At
		}
		atoms = append(atoms, element(idChapter, number(idChapterUID, c.ID), number(idChapterStart, nanoseconds(c.At)),
			number(idChapterEnd, nanoseconds(max(end, c.At))),
			element(idChapterDisplay, text(idChapterTitle, c.Title), text(idChapterLang, "und"))))
	}
	return atoms
}

func milliseconds(d time.Duration) uint64 { return uint64(max(0, d.Milliseconds())) }

func nanoseconds(d time.Duration) uint64 { return uint64(min(max(0, d), math.MaxInt64)) }
