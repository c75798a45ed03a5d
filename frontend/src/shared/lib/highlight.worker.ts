import { colour } from './colouring'

/** Colours what it is sent, one after the other; null where that failed. */
onmessage = async ({ data }: MessageEvent<{ id: number; code: string; name: string }>) => {
  const { id, code, name } = data
  postMessage({ id, lines: await colour(code, name).catch(() => null) })
}
