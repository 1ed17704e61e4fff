/** A row of the API's tables of endpoints. */
export interface Row {
  method: string
  /** With `{names}`. */
  path: string
  /** Who may call: a token or a key, a key, a token, anybody. */
  auth: 'A' | 'K' | 'T' | '-'
  success: number[]
  errors: number[]
}

/**
 * The operations of the API, as its specification lists them: method, path, who may call, the status of success, the
 * refusals. `A` stands for a token or an API key, `K` for a key, `T` for a token, `-` for nobody in particular.
 */
const table = `
POST    /api/apps                              A  201      400 401 403 422
GET     /api/apps/{app}                        A  200      401 404
PATCH   /api/apps/{app}                        A  200      400 401 403 404 422
PUT     /api/apps/{uid}                        A  200 201  400 401 403 422
GET     /api/apps                              A  200      401
PUT     /api/apps/{app}/members/{user}         A  200 201  400 401 403 422
PUT     /api/apps/{app}/members                A  200 201  400 401 403 422
GET     /api/apps/{app}/members                A  200      401 404
POST    /api/apps/{app}/remove                 T  204      400 401 403 404
DELETE  /api/apps/{app}/members/{user}         A  204      400 401 403 404
DELETE  /api/apps/{app}/members                A  204      400 401 403 404
PUT     /api/apps/{app}/typing                 T  204      401 404
PUT     /api/apps/{app}/mark                   T  204      401 404
DELETE  /api/apps/{app}/mark                   T  204      401 404
PUT     /api/apps/{app}/archive                T  204      401 404
DELETE  /api/apps/{app}/archive                T  204      401 404
PUT     /api/apps/{app}/pin                    T  204      401 404
DELETE  /api/apps/{app}/pin                    T  204      401 404
POST    /api/apps/{app}/trash                  A  204      400 401 403 404
POST    /api/apps/{app}/restore                A  204      400 401 403 404
DELETE  /api/apps/{app}                        A  204      400 401 403 404

POST    /api/users                             K  201      400 401 403 422
GET     /api/users/{user}                      K  200      401 404
GET     /api/user                              T  200      401
PATCH   /api/users/{user}                      K  200      400 401 403 404 422
PUT     /api/users/{uid}                       K  200 201  400 401 403 422
GET     /api/users                             A  200      401
GET     /api/users/{user}/followers            K  200      401 404
GET     /api/users/{user}/following            T  200      401 404
POST    /api/users/{user}/follow               T  200
POST    /api/users/{user}/unfollow             T  200
POST    /api/users/{user}/tokens               K  200      400 401 403 404
POST    /api/auth                              -  200      404
DELETE  /api/users/{user}/tokens               K  204      401 403 404
POST    /api/users/{user}/trash                K  204      400 401 403 404
POST    /api/users/{user}/restore              K  204      400 401 403 404
DELETE  /api/users/{user}                      K  204      400 401 403 404

POST    /api/directories                       K  201      401 403 409 422
GET     /api/directories/{dir}                 A  200      401 404
PATCH   /api/directories/{dir}                 K  200      400 401 403 404 422
GET     /api/directories                       A  200      401
GET     /api/directories/{dir}/members         A  200      401 404
PUT     /api/directories/{dir}/members/{user}  K  204      400 401 403 404
PUT     /api/directories/{dir}/members         K  204      400 401 403 404
DELETE  /api/directories/{dir}/members/{user}  K  204      400 401 403 404
DELETE  /api/directories/{dir}/members         K  204      400 401 403 404
DELETE  /api/directories/{dir}                 K  204      400 401 403 404

POST    /api/apps/{app}/messages               A  201      400 401 403 404 422
GET     /api/messages/{id}                     A  200      401 404
PATCH   /api/messages/{id}                     A  200      400 401 403 404 422
GET     /api/messages                          A  200      401
GET     /api/apps/{app}/messages               A  200      401 404
POST    /api/messages/{id}/trash               A  204      400 401 403 404
POST    /api/messages/{id}/restore             A  204      400 401 403 404
DELETE  /api/messages/{id}                     A  204      400 401 403 404

POST    /api/apps/{app}/posts                  A  201      400 401 403 404 422
GET     /api/posts/{id}                        A  200      401 404
PATCH   /api/posts/{id}                        A  200      400 401 403 404 422
GET     /api/posts                             A  200      401
GET     /api/apps/{app}/posts                  A  200      401 404
POST    /api/posts/{id}/trash                  K  204      400 401 403 404
POST    /api/posts/{id}/restore                A  204      400 401 403 404
DELETE  /api/posts/{id}                        A  204      400 401 403 404

POST    /api/apps/{app}/comments               A  201      400 401 403 404 422
POST    /api/files/{id}/comments               A  201      400 401 403 404 422
POST    /api/posts/{id}/comments               A  201      400 401 403 404 422
GET     /api/comments/{id}                     A  200      401 404
PATCH   /api/comments/{id}                     A  200      400 401 403 404 422
GET     /api/comments                          A  200      401
GET     /api/apps/{app}/comments               A  200      401 404
GET     /api/files/{id}/comments               A  200      401 404
GET     /api/posts/{id}/comments               A  200      401 404

POST    /api/posts/{id}/reactions              T  204      400 401 403 404 422
POST    /api/comments/{id}/reactions           T  204      400 401 403 404 422
POST    /api/messages/{id}/reactions           T  204      400 401 403 404 422
GET     /api/posts/{id}/reactions              A  200      401 404
GET     /api/comments/{id}/reactions           A  200      401 404
GET     /api/messages/{id}/reactions           A  200      401 404
DELETE  /api/posts/{id}/reactions              T  204      400 401 403 404
DELETE  /api/comments/{id}/reactions           T  204      400 401 403 404
DELETE  /api/messages/{id}/reactions           T  204      400 401 403 404

GET     /api/stars                             T  200      401
POST    /api/apps/{app}/stars                  T  200
POST    /api/files/{id}/stars                  T  200
POST    /api/posts/{id}/stars                  T  200
POST    /api/comments/{id}/stars               T  200
POST    /api/messages/{id}/stars               T  200
DELETE  /api/apps/{app}/stars                  T  200
DELETE  /api/files/{id}/stars                  T  200
DELETE  /api/posts/{id}/stars                  T  200
DELETE  /api/comments/{id}/stars               T  200
DELETE  /api/messages/{id}/stars               T  200

GET     /api/options/{id}                      A  200      401 404
GET     /api/posts/{id}/options                A  200      401
GET     /api/comments/{id}/options             A  200      401
GET     /api/messages/{id}/options             A  200      401
POST    /api/options/{id}/vote                 A  200      401 403 404

POST    /api/embeds                            A  201      400 401 403 422
GET     /api/embeds/{id}                       A  200      401 404
GET     /api/embeds                            A  200 201  400 401 404

POST    /api/blobs                             A  201      401 422
POST    /api/blobs/external                    A  201      401 422
GET     /api/blobs/{id}                        A  200      401 404

POST    /api/meetings                          A  201      400 401 403 422

POST    /api/agents                            K  201      400 401 403 422
GET     /api/agents/{agent}                    K  200      401 404
PATCH   /api/agents/{agent}                    K  200      400 401 403 404 422
PUT     /api/agents/{uid}                      K  200 201  400 401 403 422
GET     /api/agents                            A  200      401
POST    /api/agents/{agent}/trash              K  204      400 401 403 404
POST    /api/agents/{agent}/restore            K  204      400 401 403 404
DELETE  /api/agents/{agent}                    K  204      400 401 403 404
POST    /api/agents/{agent}/functions          K  201      400 401 403 404 422
GET     /api/agents/{agent}/functions/{name}   K  200      401 404
PATCH   /api/agents/{agent}/functions/{name}   K  200      400 401 403 404 422
PUT     /api/agents/{agent}/functions/{name}   K  200 201  400 401 403 422
GET     /api/agents/{agent}/functions          K  200      401
DELETE  /api/agents/{agent}/functions/{name}   K  204      400 401 403 404
POST    /api/agents/{agent}/mcp                K  201      400 401 403 404 422
GET     /api/agents/{agent}/mcp/{name}         K  200      401 404
PATCH   /api/agents/{agent}/mcp/{name}         K  200      400 401 403 404 422
PUT     /api/agents/{agent}/mcp/{name}         K  200 201  400 401 403 422
GET     /api/agents/{agent}/mcp                K  200      401
DELETE  /api/agents/{agent}/mcp/{name}         K  204      400 401 403 404

GET     /version                               -  200
GET     /api/openapi.json                      -  200
`

export const rows: Row[] = table.split('\n').filter(Boolean).map(toRow)

function toRow(line: string): Row {
  const [method = '', path = '', auth = '', ...statuses] = line.split(/\s+/)
  const all = statuses.map(Number)
  return {
    method,
    path,
    auth: auth as Row['auth'],
    success: all.filter(status => status < 400),
    errors: all.filter(status => status >= 400),
  }
}
