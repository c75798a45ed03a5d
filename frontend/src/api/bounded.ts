/**
 * The body of an answer, or null where it is larger than `most` bytes: the rest of such a one is not fetched. A length
 * that was announced is believed only as a reason to refuse.
 */
export async function readAtMost(response: Response, most: number): Promise<Blob | null> {
  const { body } = response
  if (!body) return new Blob([])
  if (Number(response.headers.get('Content-Length')) > most) {
    await body.cancel()
    return null
  }
  const reader = body.getReader()
  const parts: Uint8Array<ArrayBuffer>[] = []
  for (let size = 0; ;) {
    const { done, value } = await reader.read()
    if (done) return new Blob(parts)
    size += value.byteLength
    if (size > most) {
      await reader.cancel()
      return null
    }
    parts.push(value)
  }
}
