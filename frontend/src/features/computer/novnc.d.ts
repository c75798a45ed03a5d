declare module '@novnc/novnc' {
  export default class RFB extends EventTarget {
    constructor(target: HTMLElement, channel: WebSocket | string, options?: { shared?: boolean })
    viewOnly: boolean
    scaleViewport: boolean
    resizeSession: boolean
    background: string
    showDotCursor: boolean
    focusOnClick: boolean
    qualityLevel: number
    compressionLevel: number
    disconnect(): void
    focus(): void
    clipboardPasteFrom(text: string): void
    sendKey(keysym: number, code: string | null, down?: boolean): void
  }
}
