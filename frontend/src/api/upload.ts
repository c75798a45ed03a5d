import { apiUrl, currentAccess, refreshTokens, reportSignedOut } from './client'
import { ApiError } from './problems'
import { createId } from '@/shared/lib/ids'
import { readAccess } from './tokens'

export interface UploadOptions {
  readonly subdir?: string
  readonly signal?: AbortSignal
  readonly onProgress?: (share: number) => void
}

/** Uploads into the workspace; the paths they got. By XMLHttpRequest, since fetch tells no progress. */
export async function uploadFiles(
  sessionId: string,
  files: readonly File[],
  options: UploadOptions = {},
): Promise<string[]> {
  return (await uploadTo<{ uploaded: string[] }>(`/sessions/${sessionId}/files`, files, options)).uploaded
}

/** To any route that takes a form of files; what it answers. */
export async function uploadTo<T>(path: string, files: readonly File[], options: UploadOptions = {}): Promise<T> {
  const access = await currentAccess()
  try {
    return await post<T>(path, files, options, access)
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 401) throw error
    if (!access || !(await refreshTokens(access))) {
      reportSignedOut()
      throw error
    }
    return await post<T>(path, files, options, readAccess())
  }
}

function post<T>(path: string, files: readonly File[], options: UploadOptions, access: string | undefined): Promise<T> {
  const boundary = createId()
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open('POST', apiUrl(path, { subdir: options.subdir }))
    if (access) request.setRequestHeader('Authorization', `Bearer ${access}`)
    request.setRequestHeader('Content-Type', `multipart/form-data; boundary=${boundary}`)
    request.upload.onprogress = (event) => {
      if (event.lengthComputable) options.onProgress?.(event.loaded / event.total)
    }
    request.onload = () => {
      if (request.status >= 200 && request.status < 300) resolve(JSON.parse(request.responseText) as T)
      else reject(ApiError.fromText(request.status, request.responseText, request.getResponseHeader('Retry-After')))
    }
    request.onerror = () => reject(ApiError.unreachable())
    request.onabort = () => reject(new DOMException('aborted', 'AbortError'))
    options.signal?.addEventListener('abort', () => request.abort())
    request.send(formOf(files, boundary))
  })
}

/** Not a `FormData`, in which a browser writes quotes of names as `%22`, as which they would arrive. */
function formOf(files: readonly File[], boundary: string): Blob {
  const parts = files.flatMap((file) => {
    const name = file.name.replace(/[\\"]/g, '\\$&').replace(/[\r\n]/g, ' ')
    const head = `Content-Disposition: form-data; name="files"; filename="${name}"`
    return [`--${boundary}\r\n${head}\r\nContent-Type: application/octet-stream\r\n\r\n`, file, '\r\n']
  })
  return new Blob([...parts, `--${boundary}--\r\n`])
}
