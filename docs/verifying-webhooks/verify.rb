require 'openssl'

TOLERANCE_SECONDS = 300

# Reports whether a delivery is authentic and recent.
#
# secret:: the endpoint's secret as shown: whsec_…
# timestamp, signature:: the headers webhook-timestamp and webhook-signature, or nil
# body:: the raw bytes, before any parsing
# now:: Unix seconds
def verify(secret, timestamp, signature, body, now = Time.now.to_i)
  return false if secret.to_s.empty? || !timestamp.to_s.b.match?(/\A[0-9]{1,12}\z/)
  return false if (now - timestamp.to_i).abs > TOLERANCE_SECONDS

  digest = OpenSSL::HMAC.digest('SHA256', secret, "#{timestamp}.".b + body.b)
  expected = "v1,#{[digest].pack('m0')}"
  signature.to_s.b.split(' ').any? { |one| OpenSSL.secure_compare(one, expected) }
end

# WEBHOOK_SECRET=whsec_… ruby verify.rb TIMESTAMP SIGNATURE [NOW] < body
if __FILE__ == $PROGRAM_NAME
  timestamp, signature, now = ARGV
  body = $stdin.binmode.read
  good = verify(ENV['WEBHOOK_SECRET'], timestamp, signature, body, now ? now.to_i : Time.now.to_i)
  puts good ? 'good' : 'bad'
  exit(good ? 0 : 1)
end
