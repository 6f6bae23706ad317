// Encodes the pictures of one page. Each call is answered with the frame of its picture; the caller makes one call at a time.
class PictureEncoder {
  constructor() {
    this.began = performance.now();
    this.settings = "";
  }

  async decode(jpeg) {
    const data = Uint8Array.fromBase64 ? Uint8Array.fromBase64(jpeg) : Uint8Array.from(atob(jpeg), (c) => c.charCodeAt(0));
    const decoder = new ImageDecoder({ data, type: "image/jpeg" });
    const { image } = await decoder.decode();
    this.image?.close();
    this.image = image;
    decoder.close();
  }

  async encode(jpeg, key, bitrate) {
    if (jpeg) await this.decode(jpeg);
    const frame = new VideoFrame(this.image, { timestamp: Math.round((performance.now() - this.began) * 1000) });
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
    this.image?.close();
    if (this.encoder && this.encoder.state !== "closed") this.encoder.close();
  }
}
