# ruff: noqa: RUF001 - Turkish has a dotless i
"""Streets: their names and the forms of an address, by tongue."""

from typing import Final

import msgspec

from service.sampling.seeded_random import Draw, Pattern, patterns, pick
from service.sampling.words import listed


class Streets(msgspec.Struct, frozen=True):
    """Names of streets, forms of the first line, the highest house number, and second lines.

    A form shows `street`, the house number `number` and a second, smaller number `part`.
    """

    names: tuple[str, ...]
    forms: tuple[str, ...]
    highest: int
    seconds: tuple[Pattern, ...]

    def first_line(self, draw: Draw) -> str:
        """Return a first line, a low house number likelier than a high one."""
        share = draw()
        return pick(self.forms, draw).format(
            street=pick(self.names, draw), number=1 + int(self.highest * share * share), part=1 + int(draw() * 30)
        )

    def second_line(self, draw: Draw) -> str:
        """Return a second line."""
        return pick(self.seconds, draw).fill(draw)


STREETS: Final = {
    "US": Streets(
        listed(
            """Main; Oak; Maple; Cedar; Elm; Washington; Lake; Hill; Park; Pine; 2nd; 3rd; 5th; 14th; Lincoln;
            Jefferson; Franklin; Jackson; Market; Church; River; Spring; Highland; Walnut; Chestnut; Sunset; Railroad;
            Mill; Union; Broadway; Martin Luther King Jr; Peachtree; Cesar Chavez; Old Mill"""
        ),
        listed(
            """{number} {street} St; {number} {street} St; {number} {street} Ave; {number} {street} Rd;
            {number} {street} Blvd; {number} N {street} St; {number} S {street} Ave; {number} W {street} St;
            {number} E {street} Blvd; {number} {street} Dr; {number} {street} Street; {number} {street} Pkwy"""
        ),
        9900,
        patterns(listed("Suite *##; Suite *#; Ste @; Ste *##; Unit *; Unit *#; Bldg @; 2nd Floor; Space *##")),
    ),
    "CA": Streets(
        listed(
            """Main; King; Queen; Dundas; Yonge; Bay; Front; Victoria; Albert; Wellington; Portage; Granville;
            Lakeshore; Church; Elgin; Bank; Water; Douglas; Jasper; Barrington; Kingsway; Maple; Birch; Mackenzie;
            Centennial; Confederation; Hastings; Robson; Columbia; 1st; 4th; 17th"""
        ),
        listed(
            """{number} {street} St; {number} {street} Street; {number} {street} Ave; {number} {street} Rd;
            {number} {street} St W; {number} {street} St E; {number} {street} Dr; {number} {street} Blvd;
            {part}-{number} {street} St"""
        ),
        4200,
        patterns(listed("Unit *; Unit *#; Suite *##; Unit @*; 2nd Floor; Lower Level")),
    ),
    "QC": Streets(
        listed(
            """Saint-Denis; Sainte-Catherine; Notre-Dame; Saint-Joseph; Laurier; Principale; de l'Église; des Érables;
            Sherbrooke; Papineau; du Collège; Saint-Jean; Champlain; Frontenac; Cartier; Saint-Laurent; Montcalm;
            de Maisonneuve; des Pins; Grande Allée; du Pont; Père-Marquette; des Forges; Québec"""
        ),
        listed(
            """{number} rue {street}; {number}, rue {street}; {number} boul. {street}; {number}, boulevard {street};
            {number} avenue {street}; {number} ch. {street}; {number} rue {street} Est"""
        ),
        4200,
        patterns(listed("Bureau *##; Local *; Local *##; Suite *##; *e étage")),
    ),
    "MX": Streets(
        listed(
            """Hidalgo; Juárez; Morelos; Benito Juárez; Insurgentes; Reforma; Zaragoza; 5 de Mayo; 16 de Septiembre;
            Francisco I. Madero; Emiliano Zapata; Álvaro Obregón; Venustiano Carranza; Lázaro Cárdenas; Niños Héroes;
            Revolución; Independencia; Constitución; Aldama; Allende; Guerrero; Matamoros; Degollado; Melchor Ocampo;
            Nicolás Bravo; Universidad; Colón; Cuauhtémoc"""
        ),
        listed(
            """Av. {street} {number}; Calle {street} {number}; {street} {number}; Blvd. {street} {number};
            Av. {street} No. {number}; {street} {number}, Col. Centro; Av. {street} {number}, Int. {part}"""
        ),
        2400,
        patterns(listed("Local *; Local *#; Col. Centro; Plaza Comercial, Local *#; Piso *; Planta Baja")),
    ),
    "BR": Streets(
        listed(
            """das Flores; Sete de Setembro; Quinze de Novembro; Getúlio Vargas; Tiradentes; Santos Dumont; São João;
            Duque de Caxias; Presidente Vargas; Rui Barbosa; Marechal Deodoro; José Bonifácio; das Palmeiras; Brasil;
            Dom Pedro II; da Conceição; Goiás; São Sebastião; Floriano Peixoto; Castro Alves; da Independência;
            Barão do Rio Branco; Amazonas; Joaquim Nabuco; Santo Antônio; do Comércio; Tomé de Sousa"""
        ),
        listed(
            """Rua {street}, {number}; Rua {street}, {number}; R. {street}, {number}; Avenida {street}, {number};
            Av. {street}, {number}; Travessa {street}, {number}; Praça {street}, {number};
            Rua {street}, nº {number}"""
        ),
        2600,
        patterns(listed("Loja *; Loja *#; Sala *##; Térreo; Piso L*; Bloco @; Galpão *")),
    ),
    "AU": Streets(
        listed(
            """George; Pitt; Collins; Bourke; Elizabeth; King; Queen; Flinders; Swanston; Victoria; Albert; William;
            Hay; Murray; Adelaide; Hindley; Rundle; Church; High; Station; Railway; Beach; Macquarie; Hunter; Crown;
            Oxford; Bridge; Marine; Pacific; Wattle; Banksia; Jacaranda"""
        ),
        listed(
            """{number} {street} St; {number} {street} Street; {number} {street} Rd; {number} {street} Road;
            {part}/{number} {street} St; {number} {street} Pde; {number} {street} Ave; {number} {street} Tce"""
        ),
        620,
        patterns(listed("Shop *; Shop *#; Unit *; Level *; Shop G#*; Tenancy *")),
    ),
    "GB": Streets(
        listed(
            """High; Station; Church; London; Victoria; Queen; King; Market; Mill; Bridge; Castle; North; South; West;
            Park; Albert; George; Abbey; Cross; Broad; Gloucester; Windsor; York; Chapel; Priory; Manor; Green;
            Orchard; Cathedral; St Mary's; St John's; Northgate"""
        ),
        listed(
            """{number} {street} Street; {number} {street} Street; {number} {street} Road; {number} {street} Lane;
            {number} {street} St; {number}a {street} Street; {number} {street} Way;
            {number}-{number}a {street} Road"""
        ),
        260,
        patterns(listed("Unit *; Unit *#; First Floor; Ground Floor; Unit @*; Unit *, Retail Park; The Arcade")),
    ),
    "FR": Streets(
        listed(
            """de la Paix; de la République; Victor-Hugo; de l'Église; du Général-de-Gaulle; Jean-Jaurès; de la Gare;
            des Écoles; Pasteur; du Château; Émile-Zola; de la Liberté; des Fleurs; Gambetta; du Moulin; de Verdun;
            Saint-Michel; des Tilleuls; Molière; Jules-Ferry; des Lilas; de la Fontaine; Voltaire; du Maréchal-Foch;
            de l'Hôtel-de-Ville; Sainte-Catherine; George-Sand; de Strasbourg; des Alliés"""
        ),
        listed(
            """{number} Rue {street}; {number} rue {street}; {number}, rue {street}; {number} bis Rue {street};
            {number} Avenue {street}; {number} Boulevard {street}; {number} av. {street}; {number} Place {street}"""
        ),
        210,
        patterns(
            listed("Bâtiment @; Centre commercial; Zone commerciale; Galerie marchande; Local *; BP *##; *e étage")
        ),
    ),
    "DE": Streets(
        listed(
            """Haupt; Bahnhof; Schul; Garten; Goethe; Schiller; Linden; Kirch; Berg; Mühlen; Wald; Rosen; Dorf;
            Birken; Bismarck; König; Mozart; Brücken; Markt; Friedrich; Wilhelm; Kaiser; Jäger; Höhen; Süd; Lessing;
            Tannen; Schloss; Kloster; Eichen; Blücher"""
        ),
        listed(
            """{street}straße {number}; {street}straße {number}; {street}straße {number}; {street}str. {number};
            {street}straße {number}a; {street}weg {number}; {street}allee {number}; {street}platz {part};
            {street}straße {number}-{number}b; {street}gasse {part}"""
        ),
        190,
        patterns(listed("1. OG; EG links; Erdgeschoss; Hinterhaus; Haus @; Einkaufszentrum, Ebene *; Gebäude *")),
    ),
    "ES": Streets(
        listed(
            """Mayor; Real; de la Constitución; del Sol; de Alcalá; San Juan; Cervantes; de Andalucía; Goya;
            Velázquez; del Carmen; de la Paz; de España; Nueva; Ramón y Cajal; Federico García Lorca; de la Iglesia;
            Colón; Miguel Hernández; de Extremadura; Blasco Ibáñez; Santa María; de los Olivos; del Pilar;
            Núñez de Balboa; San Andrés; de la Estación; Méndez Núñez"""
        ),
        listed(
            """Calle {street}, {number}; Calle {street}, {number}; C/ {street}, {number}; Avenida {street}, {number};
            Avda. {street}, {number}; Plaza {street}, {part}; Paseo {street}, {number};
            Calle {street}, {number} bis"""
        ),
        180,
        patterns(listed("Local *; Bajo; Bajo @; Centro Comercial, Local *#; Planta *; Nave *")),
    ),
    "IT": Streets(
        listed(
            """Roma; Garibaldi; Dante Alighieri; Giuseppe Mazzini; Cavour; Vittorio Emanuele II; Guglielmo Marconi;
            Giacomo Matteotti; della Libertà; XX Settembre; IV Novembre; San Francesco; Giuseppe Verdi; Umberto I;
            Leonardo da Vinci; della Repubblica; Nazionale; dei Mille; Antonio Gramsci; Aldo Moro; dell'Università;
            Galileo Galilei; Santa Lucia; della Stazione; Giosuè Carducci; Nicolò Paganini; Cesare Battisti"""
        ),
        listed(
            """Via {street}, {number}; Via {street}, {number}; Via {street} {number}; Corso {street}, {number};
            Viale {street} {number}; Piazza {street}, {part}; Via {street}, {number}/A; Via {street}, {number}/bis"""
        ),
        240,
        patterns(listed("Piano terra; Interno *; Scala @; Centro Commerciale; Negozio *#; c/o Galleria")),
    ),
    "NL": Streets(
        listed(
            """Kerk; Molen; Dorps; School; Stations; Juliana; Wilhelmina; Beatrix; Nieuw; Haven; Markt; Oranje; Eiken;
            Linden; Bloem; Raadhuis; Prins Hendrik; Vrijheids; Tulpen; Rozen; Zuider; Noorder; Veer; Spoor; Vondel;
            Rembrandt; Sint Jans; Koepel"""
        ),
        listed(
            """{street}straat {number}; {street}straat {number}; {street}straat {number}; {street}weg {number};
            {street}laan {number}; {street}plein {part}; {street}kade {number}; {street}straat {number}-{part};
            {street}straat {number}a"""
        ),
        220,
        patterns(listed("Unit *; *e verdieping; Winkel *#; Begane grond; Gebouw @")),
    ),
    "SE": Streets(
        listed(
            """Stor; Kungs; Drottning; Skol; Järnvägs; Kyrko; Ström; Norr; Söder; Väster; Öster; Björk; Ek; Linné;
            Trädgårds; Hamn; Vasa; Bruks; Smed; Slotts; Fabriks; Ängs; Bäck; Sjö; Kvarn; Nygårds; Torg; Bergs"""
        ),
        listed(
            """{street}gatan {number}; {street}gatan {number}; {street}gatan {number}; {street}vägen {number};
            {street}gatan {number} B; {street}gränd {part}; {street}allén {number}"""
        ),
        120,
        patterns(listed("*:a våningen; Våning *; Lokal *; Galleria, plan *; Port @; Hus @")),
    ),
    "PL": Streets(
        listed(
            """Długa; Polna; Leśna; Słoneczna; Krótka; Szkolna; Ogrodowa; Lipowa; Kościuszki; Mickiewicza;
            Sienkiewicza; Piłsudskiego; Żeromskiego; Kościelna; Łąkowa; Brzozowa; Sportowa; Różana; Zielona; Wiśniowa;
            Kolejowa; Dworcowa; Świętojańska; Grunwaldzka; Warszawska; Krakowska; Źródlana; Jana Pawła II"""
        ),
        listed(
            """ul. {street} {number}; ul. {street} {number}; ul. {street} {number}; {street} {number};
            ul. {street} {number}/{part}; al. {street} {number}; ul. {street} {number}a; os. {street} {number}"""
        ),
        170,
        patterns(listed("lok. *; lok. *#; Galeria Handlowa; piętro *; parter; pawilon *#; box *")),
    ),
    "TR": Streets(
        listed(
            """Atatürk; Cumhuriyet; İstiklal; İnönü; Gazi; Fevzi Çakmak; Kâzım Karabekir; Mimar Sinan; Hürriyet;
            Zafer; Barış; Çiçek; Güneş; Yıldız; Menekşe; Gül; Lâle; Sakarya; Dumlupınar; Fatih; Yavuz Sultan Selim;
            Mevlana; Yunus Emre; Şehitler; Ihlamur; Çınar; Okul; Çarşı"""
        ),
        listed(
            """{street} Cad. No:{number}; {street} Cad. No: {number}; {street} Cad. No:{number}/{part};
            {street} Caddesi No:{number}; {street} Bulvarı No:{number}; {street} Sok. No:{part};
            {street} Mah. {number}. Sok. No:{part}"""
        ),
        240,
        patterns(listed("Kat *; Daire *; D Blok; Zemin Kat; AVM Kat *; Dükkân *#; İç Kapı No: *")),
    ),
    "JP": Streets(
        listed(
            """中央; 本町; 栄町; 大手町; 駅前; 新町; 東町; 西町; 南町; 北町; 緑町; 旭町; 桜木町; 幸町; 元町; 若葉;
            泉町; 錦町; 宮前; 日の出町; 松原; 高砂町; 末広町; 寿町; 八幡町; 花園町; 千代田; 春日; 青葉台; 緑ヶ丘"""
        ),
        listed(
            """{street}1-{part}-{number}; {street}2-{part}-{number}; {street}3丁目{part}-{number};
            {street}4丁目{part}番{number}号; 1-{part}-{number} {street}; 2-{part}-{number} {street};
            {street}{part}-{number}"""
        ),
        40,
        patterns(listed("*階; 1階; 駅前ビル *F; 第一ビル 1F; 中央ビル *#*; ショッピングセンター内")),
    ),
}
