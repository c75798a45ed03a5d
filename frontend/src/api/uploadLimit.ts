import { ApiError } from './problems'

let limitBytes: number | null = null

/** What a file may have, as the server told. */
export function knowUploadLimit(bytes: number): void {
  limitBytes = bytes
}

/** Throws for a file that the server would refuse, before anything is begun for it. */
export function refuseTooLarge(file: Pick<File, 'size'>): void {
  if (limitBytes === null || file.size <= limitBytes) return
  const error = new ApiError(413, 'upload_too_large', '')
  error.limitBytes = limitBytes
  throw error
}
