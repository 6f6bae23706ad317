// Package videosource provides the contents of a tab as video to all its viewers. It knows no browser and no call.
//
// One capture serves all viewers, and nothing is captured without viewers. A [Screencaster] reports each change of
// the page with a JPEG picture in which secrets are already masked: nothing else reaches viewers or the encoder. An
// unchanged page costs nothing but a rare refresh. Viewers of [JPEG] get the pictures themselves. For viewers of
// [Video] one [Encoder] produces a single VP8 stream of dependent frames, with key frames when a viewer needs one, at
// the bit rate of the slowest viewer. Viewers that cannot keep up skip to the next key frame and delay nobody. Once
// the page stops changing, the last picture is encoded a few more times, since the first frames after a change are
// coarse.
//
// Without an encoder, and for viewers of [KeyFrames], screenshots are taken when the page has changed: Chromium's
// lossy WebP contains a VP8 key frame, which is unwrapped. Without a screencast, screenshots are taken at intervals.
// That always works, but costs more time and bandwidth.
package videosource
