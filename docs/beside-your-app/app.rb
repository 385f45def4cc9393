require 'json'
require 'net/http'
require 'openssl'
require 'webrick' # Debian: ruby-webrick

ISSUER = ENV.fetch('GATEHOUSE_URL') # BASE_URL of Gatehouse
AUDIENCE = ENV.fetch('IDENTITY_AUDIENCE')
KEYS_SECONDS = 300 # then a key that was withdrawn is no longer believed
AGAIN_SECONDS = 1 # for a key that is not known
LEEWAY_SECONDS = 5 # between the clocks
ED25519 = ['302a300506032b6570032100'].pack('H*') # before the bytes of a public key (RFC 8410)

# The keys that Gatehouse publishes.
class Keys
  def initialize
    @lock = Mutex.new
    @keys = {}
    @fetched_at = @tried_at = -Float::INFINITY
  end

  def find(kid)
    @lock.synchronize do
      fetch if (stale? || !@keys.key?(kid)) && now - @tried_at > AGAIN_SECONDS
      stale? ? nil : @keys[kid]
    end
  end

  private

  def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  def stale? = now - @fetched_at > KEYS_SECONDS

  def fetch
    @tried_at = now
    url = URI("#{ISSUER}/.well-known/jwks.json")
    limits = { use_ssl: url.scheme == 'https', open_timeout: 5, read_timeout: 5 }
    answer = Net::HTTP.start(url.host, url.port, **limits) { |http| http.get(url.path) }
    found = JSON.parse(answer.body)['keys'].select { |key| key['crv'] == 'Ed25519' }
    @keys = found.to_h { |key| [key['kid'], OpenSSL::PKey.read(ED25519 + decode(key['x']))] }
    @fetched_at = now
  end
end

KEYS = Keys.new

def decode(part) = part.tr('-_', '+/').unpack1('m')

# The claims of a valid identity token; nil for anything else.
def verify(token)
  return nil unless token.match?(/\A[\w-]+\.[\w-]+\.[\w-]+\z/)

  head, body, signature = token.split('.')
  header = JSON.parse(decode(head))
  key = header['alg'] == 'EdDSA' ? KEYS.find(header['kid']) : nil
  return nil unless key&.verify(nil, decode(signature), "#{head}.#{body}")

  claims = JSON.parse(decode(body))
  ours = claims['iss'] == ISSUER && claims['aud'] == AUDIENCE
  ours && Time.now.to_i < claims['exp'] + LEEWAY_SECONDS ? claims : nil
rescue StandardError
  nil
end

# For all methods, which mount_proc is not.
class App < WEBrick::HTTPServlet::AbstractServlet
  def service(request, response)
    claims = verify(request['gatehouse-identity'].to_s)
    response.status = claims ? 200 : 401
    response.body = claims ? "#{claims['sub']} of #{claims['tenant']}\n" : "who are you?\n"
  end
end

server = WEBrick::HTTPServer.new(BindAddress: '127.0.0.1', Port: ENV.fetch('PORT'))
server.mount('/', App)
server.start
