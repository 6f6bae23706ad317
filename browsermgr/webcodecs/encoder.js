// Encodes the pictures of one page. Each call is answered with the frame of its picture; the caller makes one call at a time.
class PictureEncoder {
  constructor() {
    this.began = performance.now();
    this.settings = "";
  }

  async encode(jpeg, key, bitrate) {
    const data = Uint8Array.fromBase64 ? Uint8Array.fromBase64(jpeg) : Uint8Array.from(atob(jpeg), (c) => c.charCodeAt(0));
    const decoder = new ImageDecoder({ data, type: "image/jpeg" });
    const { image } = await decoder.decode();
    const frame = new VideoFrame(image, { timestamp: Math.round((performance.now() - this.began) * 1000) });
    image.close();
    decoder.close();
    const width = frame.displayWidth, height = frame.displayHeight;
    if (this.encoder?.state !== "configured") {
      this.encoder = new VideoEncoder({
        output: (chunk) => {
          this.frame = new Uint8Array(chunk.byteLength);
          chunk.copyTo(this.frame);
        },
        error: (error) => { this.failure = error; },
      });
      this.settings = "";
    }
    if (this.settings !== `${width} ${height} ${bitrate}`) {
      this.encoder.configure({ codec: "vp8", width, height, bitrate, framerate: 20, latencyMode: "realtime", contentHint: "text" });
      this.settings = `${width} ${height} ${bitrate}`;
    }
    this.frame = this.failure = null;
    this.encoder.encode(frame, { keyFrame: key || width !== this.width || height !== this.height });
    frame.close();
    this.width = width;
    this.height = height;
    await this.encoder.flush();
    if (this.failure) throw this.failure;
    if (!this.frame) return "";
    if (this.frame.toBase64) return this.frame.toBase64();
    return btoa(Array.from(this.frame, (b) => String.fromCharCode(b)).join(""));
  }

  close() {
    if (this.encoder && this.encoder.state !== "closed") this.encoder.close();
  }
}
