// Draws video. A VP8 frame builds on those before, or shows all by itself.
const whole = (data) => (data[0] & 1) === 0;

// decoder draws with WebCodecs; null where there are none (they need https, or this machine itself). shown is given each
// frame with its timestamp, and closes it; skipped is called for one that nothing can be made of.
export function decoder(shown, skipped, failed) {
  if (!globalThis.VideoDecoder) return null;
  const video = new VideoDecoder({
    output: (frame) => shown(frame, frame.displayWidth, frame.displayHeight),
    error: failed,
  });
  const colorSpace = { fullRange: false, matrix: "smpte170m", primaries: "bt709", transfer: "bt709" };
  video.configure({ codec: "vp8", optimizeForLatency: true, colorSpace });
  let begun = false;
  return {
    name: "webcodecs",
    draw(data, width, height, timestamp) {
      begun ||= whole(data);
      if (!begun) return skipped();
      try {
        video.decode(new EncodedVideoChunk({ type: whole(data) ? "key" : "delta", timestamp, data }));
      } catch {
        failed();
      }
    },
    close: () => video.state !== "closed" && video.close(),
  };
}
