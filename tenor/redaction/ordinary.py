"""Words that are nobody's name and no part of an address: the common ones of calls and of everyday talk.

They are never taken out as part of a name, a street or an e-mail address, so an interim may show them at once. Every
other word at the end of an interim waits until what follows has made clear what it is.
"""

_WORDS = """
a able about above abroad absolute absolutely abuse accent accept accepted access accident accidentally according
account accounts accurate across act action activate activating active activities activity actual actually add added
adding additional address addresses admit adorable adult adults advice afford afraid after afternoon again against age
agent ago agree agreed ah ahead ain't air airline airlines airport airports alarm alarms album alert alerts alive all
allow allowed almost alone along already alright also alternative although always am amazing amount amounts an and
angry animal animals annoying another answer answers anti anxiety any anymore anyone anything anyway anyways anywhere
apart apartment apologies apologize app apparently appear appears apple application applied apply appointment
appreciate appreciated approved are area aren aren't argument around arrive arrived arrives arriving art article
articles artist as ask asked asking assist assistance assistant associated assume assuming at ate atm atms attack
attempt attempted attention attractive audio auto automatically available avenue average avoid aware away awesome
awful awkward baby back background bad badly bag balance ball balls bank banking banks bar barely base based basically
bathroom battery battle be beat beautiful because become bed bedroom beef been beer before begin beginning behavior
behind being believe beneficiary benefits besides best bet better between beyond big bigger biggest bills birth
birthday bit blame block blocked blood board body book booked booking books boring born boss bot both bother bottom
bought boulevard bowl box boy boyfriend boys brain branch brand bread break breakfast breaking brilliant bring broke
broken brother brought buddy build building bunch burger burn bus business busy but butter buy buying by bye cable
cake calendar call called caller callers calling calls calm calorie calories came can can't cancel canceled
cancellation cancelled cancer cannot cant car car's card card's cards care career careful cares carry cars case cash
cat catch cats caught cause caused cell cent central cents century certain certainly challenge chance change changed
changes changing channel character characters charge charged charges chat cheap cheapest check checkbook checkbooks
checked checking checks cheers cheese cheque child children chill chilly chips chocolate choice choose christmas
cities city claim claims clarify class classic classical clean cleaner cleaning clear clearly clock close closed
closest clothes cloudy clue coach code codes coffee coin cold colder color come comes coming command comment comments
common community companies company compared complain complaint complete completed completely computer concerned
conditions confidence confirm confirmed confused congrats congratulations connect connection consider considered
considering constantly contact contactless contacts content context continue contract control conversation conversion
convert converter cookies cooking cool copy corporation correct correctly cost costs cough could couldn couldn't count
countries country county couple course cover covered crazy create created creative creativity credit crime cry crying
culture cup curious currencies currency current currently customer customers cut cute dad daily damage damaged dance
dangerous dare dark data date dates dating daughter day days dead deal dear death debit decent decide decided decision
decline declined declining decrease deep defense define definitely definition delete deleted deliver delivered
delivery denied depart departing department depends deposit deposited depression describe deserve deserves despite
destination detail details device did didn didn't didnt die died difference different difficult digit digits dim diner
dinner direct directions directly dirty disagree disappeared disappointed disconnect disconnected discover disgusting
display disposable dispute distance distant do doctor doctors does doesn doesn't doesnt dog dogs doing dollar dollars
don't done dont door doubt down downtown draft dream drink drive driving drop dropped due duplicate during dying
e-mail each earlier earliest early earned earth easier easily easy eat eating economy edit education effect effort
eggs eh either elaborate election electric else email emails embarrassing end ended ending ends energy engine english
enjoy enjoyed enjoying enough entered entertainment entire entirely entitled episode er erase erm error escalate
especially essay etc euro euros even evening event events eventually ever every everybody everyone everything
everywhere evidence evil exact exactly example excellent except exchange exchanges exchanging excited excuse exist
existing exists expect expected expecting expensive experience expiration expire expires explain explaining
explanation extra extreme extremely eye eyes face facebook fact factory facts fail failed fair fake falling false
familiar family famous fan fans fantastic faraway fare fares fast faster fat father fault favorite favorites favourite
fear federal fee feed feel feeling feelings feels fees feet fell fellow felt female few fight fighting figure figured
file fill film films final finally find finding fine finish finished fire fish fit fix fixed flat flight flights flip
floor fly flying focus folk folks follow following food foot football for force forecast foreign forever forget forgot
form forward found frame fraud fraudulent freaking free freedom freeze freezing french fresh friday fridge fried
friend friends fries from front frozen frustrated frustrating fuel full fully fun funds funny further future game
games gaming gas gave general generally genuinely get gets getting gift girl girlfriend girls give given gives giving
glad glass go goal god goes going gone gonna good goodbye google got gotta gotten government great greatest groceries
grocery gross ground group grow guess guy guys gym ha had hadn't hair half hand handle hands hang happen happened
happening happens happiness happy hard harder has hasn't hat hate hated hates have haven haven't having he he's head
heads health healthy hear heard hearing heavy hello help helped helpful helping helps her here hes hey hi higher
highest highly highway hilarious him himself his history hit hits hmm hobbies hockey hold holding holiday holy home
honest honestly hopefully hoping horrible hospital hot hotel hotter hour hours house how how's however hug huge huh
human humans hurt hurts husband i i'd i'll i'm i've ice id idea ideas identity if ignorant ignore ill illegal image
imagine immediately important improve in inches include income inconvenience incorrect increase increased incredible
incredibly indeed info inform information ingredients injury insane inside instead instructions insurance interest
interested interesting international internet interview into invoice invoices involved iphone is isn isn't isnt issue
issues it it'd it'll it's item items its itself jail jazz jealous job jobs join joke jokes journal journey jump just
keep keeping keeps kept key kid kidding kids kind kinda kinds kitchen knew know knowing knowledge known knows lack
lady language large last late lately later latest laugh laughed laughing laughter laundry laws lawyer lead league
learn learned learning least leave leaves leaving left legal legend legit less let let's lets letter letters letting
level lie lies life light lights like liked likely likes limit limits line lines link list listed listen listening
lists literally little live lived lives living loan local locate located location locations locked log logged logic
login longer look looked looking looks lose losing loss lost lot lots loud louder love loved lovely loves loving low
lower lowest luck luggage lunch ma'am machine mad madam made magic mail mailed maintenance make makes making male mall
man manager many map market marriage married massive mastercard match matter matters maximum maybe me meal meals mean
meaning means meant meat media medical meet meeting meetings memory men mental mention mentioned merchant mess message
messages messed met metal mhm middle midnight might military milk mind mine minimum minute minutes miss missed missing
mistake mister mix mm mobile mode model modem modern mom moment moments monday money month months more morning
mortgage most mostly mother mouth move moved movement movie movies moving mr mrs ms much multiple music must mute my
myself nah name names nasty national natural nature near nearby nearest nearly necessary need needed needing needn't
needs negative neighborhood neighboring neighbourhood neither never new newest news next nice night nights no nobody
noise non none nonstop nope normal normally not note nothing notice noticed novel now number numbers nutrition
nutritional o'clock obvious obviously odd of off offer office official often oil ok okay old older on once ones online
only onto open opening operator opinion opinions opposite option options or orange order ordered orders original other
others otherwise our out outage outside oven over overdraft owe own package page paid pain painful painting pair paper
parcel parcels parent parents parking parkway part particular partner party pass passcode passed password passwords
past pasta patience patient pay paycheck paying payment payments pending people per percent perfect perfectly person
personal personality personally pet pets phone photo photograph photos phrase physical pic pick picture pictures pie
piece pin pizza place placed places plan plane plans play played player players playing playlist playoffs plays please
pleasure plenty plug pm podcast points police policy political politics pool poor pop popular population position
positive possible possibly post postal posted posting posts pot potato pounds power practice pray pre prefer prepare
present president pressure pretty previous prices prime private pro probably problem problems procedure process
processed product professional program progress proof proper properly property protect proud prove provide provided
pub public pull purchase purchased purchases pure purpose push put putting quality question questions quick quickly
quiet quit quite radio rain raise ran random range rare rate rated rates rather rating ratings reach reaction read
reading ready real reality realize realized really reason reasonable reasons receipt receive received receiving recent
recently recipe recipient recognize recommend record redeem refer reference refund refunded refunds regarding
regardless regret regular rejected related relationship release relevant religion remember remind reminder reminders
reminds remove removed rent rental repeat replace replaced replacement reply report representative request requested
require required research reservation reservations reserve reset reside respect respond response responsible rest
restaurant restaurants restrictions result results resume return returned returning returns revert reverted review
reviews reward rewards rid ride ridiculous right rights ring rip risk road robot roll rollover room rooms root rough
round router routing ruined rule rules running sad sadly safe said sake salary same saturday sauce save saved saving
savings saw say saying says scared scary scene schedule scheduled schedules school science score screen search season
seat seating seats seconds secret security see seeing seem seemed seems seen sell seller send sending sense sent
sentence series serious seriously serve served serves service services serving set setting settings several shame
share sharing she she'd she'll she's shipment shipped shipping shirt shocked shoes shoot shooting shop shopping shops
shot shots should shouldn't show showed shower showing shown shows showtimes shut sick side sided sides sign signature
signed signing silly similar simple simply since single sir sister sit site sitting situation size skin skip sleep
slightly slow small smart smell smile smoking so social society solid solve some somebody somehow someone something
sometimes somewhere son song songs soon sorry sort soul sound sounds soundtrack soup source southern spa space
spaghetti speak speaker speakers speaking special specific speech speed spell spelled spelling spend spending spent
spirit sports spot stand standard standing start started starting starts state statement statements states status stay
staying steak steal step steps stick still stock stole stolen stop stopover stopped stopping stops store stores
stories story straight strange stranger street streets strong stuck student study stuff style sub subjects submit subs
subscription substitute success such suck sucks suddenly sugar suggest suggestion suggestions suite sunday super
supervisor support supported suppose supposed sure surely surname surprise surprised switch system table tails take
takeaway taken takes taking talk talking tank target task taste tavern tax taxes taxi tea teach teacher team teams
tears technician telephone television tell telling temperate temperature term terms terrible terrifying test text
textbook than thank thanks thankyou that that'd that'll that's thats the theater theaters theatre theatres their them
theme themselves then theory therapy there there's these they they'd they'll they're they've thing things think
thinking thinks this tho those though thought thoughts thread through throw throwing thursday ticket tickets til till
time timer times timezone tip tire tired tires title titled to today today's todo together toilet told tomorrow
tonight too took top topped topping total totally touch tough towards town track tracking tracks trade traffic trailer
train transaction transactions transfer transferred transferring transfers translate transportation trash travel
traveling travelling treat tree tried trip trivia trouble truck true truly trust truth try trying tuesday tune tunes
turn turned turns tv twice type types typically ugh ugly uh uhm ultimate um unable unacceptable unblock uncomfortable
under understand understanding understood unfortunately united universe unless unlock until up upcoming update updated
updates upgrade ups upset urgent us use used useful username uses using usual usually vacation vacuum value vehicle
verification verified verify verifying version very via video videos virtual visa visit voice volume vote wait waiting
wake walk walking wallet wanna want wanted wanting wants war warm warmer warranty wars was wash wasn wasn't waste
watch watched watching way ways we we'd we'll we're we've wear wearing weather website wedding wednesday week weekend
weeks weight weird welcome well went were weren't what what'll what's whatever whats when when's whenever where
where's whether which while who who'd who's whole wholesome why wife wifi wild wildlife willing win wind wine wing
winning wins wish with withdraw withdrawal withdrawals withdrawing withdrew within without woman women won won't
wonder wonderful wondering wont word words work worked working workout works world worried worries worry worse worst
would wouldn wouldn't wow write writing written wrong wrote y'all yea yeah yeap year years yellow yep yes yesterday
yet you you'd you'll you're you've younger your yours yourself yup zip
"""
ORDINARY = frozenset(_WORDS.split())
